// What the SDK loads on first use is loaded before each file of tests: whichever test comes first, a clock that it fakes races
// against no import.
import '../../src/http/client.ts';
import '../../src/http/connection.ts';
