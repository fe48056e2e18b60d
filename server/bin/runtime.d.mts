export const nodeMajorMin: number
export const heap: readonly string[]
