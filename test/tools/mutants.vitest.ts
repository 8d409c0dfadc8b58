// The unit tests in which Stryker looks for mutants.
import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

const unit = config.test?.projects?.[0] as { test: { exclude: string[]; testTimeout: number } };
// Stryker rewrites the source, so tests of its text would fail.
unit.test.exclude.push('test/{docs,cli,sandbox,site,soak}/**', 'test/architecture.test.ts');
// A mutant may wait in vain.
unit.test.testTimeout = 5_000;

export default defineConfig({ ...config, test: { ...config.test, projects: [unit] } });
