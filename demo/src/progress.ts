// The progress of several parts of work as one share.

/** Returns a function for each part, which takes its share. `report` gets the quarters of the mean share that are reached, as per cent. */
export function createProgress(
  parts: number,
  report: (percent: number) => void,
): ((share: number) => void)[] {
  const shares = Array.from({ length: parts }, () => 0)
  let reported = 0
  return shares.map((_, part) => (share) => {
    shares[part] = share
    const mean = shares.reduce((sum, one) => sum + one, 0) / parts
    const percent = Math.floor(mean * 4) * 25
    if (percent > reported) report(percent)
    reported = Math.max(reported, percent)
  })
}
