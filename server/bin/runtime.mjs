// The version and the flags of Node.js that Pharos needs. dist/bin/pharos, a shell script, repeats both.

export const nodeMajorMin = 24

/**
 * A young generation of 32 to 64 MB: with V8's default, which starts at 1 MB, short-lived pages of 75 kB cause seven times as many
 * collections. node:ffi prints a warning, which is no line of the log (decision 078).
 */
export const nodeFlags = [
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
  '--disable-warning=ExperimentalWarning',
]
