// The version of the product, as in package.json, and the order of versions.
import { readFileSync } from 'node:fs'

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)

export const version = manifest.version

/** Whether the text is a version, such as `0.2.0` or `0.2.0-rc.1`. */
export const isVersion = (text: string): boolean =>
  /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(text)

/**
 * Compares by the precedence of Semantic Versioning 2.0.0, section 11: negative if `a` is older than `b`. A pre-release is older than its
 * release, and build metadata is ignored.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  return (
    compareLists(left.core, right.core) ||
    Number(left.preRelease.length === 0) - Number(right.preRelease.length === 0) ||
    compareLists(left.preRelease, right.preRelease)
  )
}

function partsOf(version: string): { core: string[]; preRelease: string[] } {
  const [, core = '', preRelease = ''] = /^([^-+]*)-?([^+]*)/.exec(version)!
  return { core: core.split('.'), preRelease: preRelease === '' ? [] : preRelease.split('.') }
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (const [at, left] of a.entries()) {
    const right = b[at]
    if (right === undefined) return 1
    const order = compareIdentifiers(left, right)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Numbers are older than texts, and compared as numbers. */
function compareIdentifiers(a: string, b: string): number {
  const [isLeft, isRight] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isLeft && isRight) return Number(a) - Number(b)
  if (isLeft !== isRight) return isLeft ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}
