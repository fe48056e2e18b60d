// The deliveries that the tests use: written for Pharos, in the formats that the vendors document.
import { readFileSync, readdirSync } from 'node:fs'
import type { JsonObject } from '../event/json.ts'

const folder = new URL('./fixtures/', import.meta.url)

/** Returns a new copy, which a test may change. */
export function fixture(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as JsonObject
}

/** Returns the names of the deliveries of a kind: `<kind>-*.json`, unless another of `kinds` matches more of the name. */
export function fixtureNames(kind: string, kinds: readonly string[]): string[] {
  const longer = kinds.filter((other) => other.startsWith(`${kind}-`))
  return readdirSync(folder)
    .map((file) => file.replace(/\.json$/, ''))
    .filter((name) => name.startsWith(`${kind}-`) && !name.endsWith('-settings'))
    .filter((name) => !longer.some((other) => name.startsWith(`${other}-`)))
    .toSorted()
}
