// The delay between attempts that fail. Pure.

/**
 * Doubles `first` with each failure in a row, up to `max`. `failures` is at least 1; the result has the unit of the
 * range.
 */
export function backOff(
  failures: number,
  { first, max }: { readonly first: number; readonly max: number },
): number {
  return Math.min(max, first * 2 ** Math.min(failures - 1, 30))
}
