// Statistics of samples. Pure.

/** Returns the value below which `share` (0 to 1) of the samples lie; 0 without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}
