// Where a program prints to, when nobody reads it any more, as after `head`.

/** Ends quietly: what was read is all that the reader wanted. For a program that does nothing but print. */
export const endWithReader = (): void => whenReaderLeaves(() => process.exit());

/** Goes on without a word: the work is finished, and its exit code tells of it. */
export const outliveReader = (): void => whenReaderLeaves(() => {});

function whenReaderLeaves(react: () => void): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      react();
    });
  }
}
