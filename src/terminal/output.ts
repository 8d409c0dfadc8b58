// Where a program prints to.

/** Ends quietly when the reader goes away, as `head` does: what it has read is all that it wanted. */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }
}
