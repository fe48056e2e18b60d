// The first halves of the keys of advisory locks that last: `pharos status` finds the leaders by them.

/** No other advisory lock begins with these numbers. */
export const lockClass = {
  /** "phar"; the second half is the id of a region. */
  region: 0x70686172,
  /** "phal"; the second half is the hash of the name of a leadership. */
  leadership: 0x7068616c,
} as const
