// The number of removals without an approval. Pure.

const alwaysAllowed = 3
const allowedShare = 0.05

/** Returns the larger of 3 and 5 % of the total. */
export const removalsMax = (total: number): number =>
  Math.max(alwaysAllowed, Math.floor(total * allowedShare))
