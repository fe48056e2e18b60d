export const nodeMajorMin: number
export const nodeFlags: readonly string[]
