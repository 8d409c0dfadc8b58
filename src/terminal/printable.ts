// What a merchant sent, on one line.

/** Text that a merchant sent, without what would move a terminal's cursor or change its colours. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '·');
