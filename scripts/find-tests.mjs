// Finds the test files of a run, without running them.
import { existsSync, globSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const patterns = ['{bench,contract,demo,dist,lab,portal,server}/**/*.test.ts', 'scripts/*.test.mjs']

/** Tests of the long run only. */
const isLong = /\.long\.test\.ts$/

/** Tests of these serve or open the built portal. */
const usesPortal = /^(?:portal\/test|lab|bench)\/|^dist\/.*\.long\.|^server\/test\/security-headers/

/** Returns every test file, relative to the root. */
export function allTests(folder = root) {
  return globSync(patterns, { cwd: folder, exclude: ['**/node_modules/**'] }).sort()
}

/** Returns the test files of `npm test`. */
export const shortTests = (folder = root) => allTests(folder).filter((file) => !isLong.test(file))

/**
 * Returns the test files that the paths name, relative to the root: files, or folders with everything below. Throws an
 * error that names every path without tests.
 */
export function namedTests(paths, folder = root) {
  const all = allTests(folder)
  const problems = []
  const found = paths.flatMap((path) => {
    const place = resolve(folder, path)
    const tests = isTestFile(place)
      ? [relative(folder, place)]
      : all.filter((test) => isBelow(join(folder, test), place))
    if (tests.length === 0) problems.push(problemOf(path, existsSync(place), all))
    return tests
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return [...new Set(found)]
}

/** Whether the portal must be built before these tests run. */
export const needPortal = (tests) => tests.some((test) => usesPortal.test(test))

/** A file given by name may be outside of a full run. */
const isTestFile = (path) => /\.test\.(?:ts|mjs)$/.test(path) && existsSync(path)

const isBelow = (file, place) => !relative(place, file).startsWith('..')

function problemOf(path, exists, all) {
  if (path.startsWith('-')) return `${path}: options are not accepted; name test files or folders`
  if (exists) return `${path}: no test file (*.test.ts) there`
  const name = path
    .split('/')
    .at(-1)
    .replace(/(?:\.test)?\.\w+$/, '')
  const similar = all.filter((test) => name.length > 2 && test.includes(name)).slice(0, 5)
  return [`${path}: no such file or folder`, ...similar.map((test) => `  did you mean ${test}?`)].join('\n')
}
