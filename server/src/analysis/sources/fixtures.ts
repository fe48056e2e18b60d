// The deliveries that the tests use: written for Pharos, in the formats that the vendors document.
import { readFileSync, readdirSync } from 'node:fs'
import type { JsonObject } from '../json.ts'

const folder = new URL('./fixtures/', import.meta.url)

/** Returns a new copy, which a test may change. */
export function fixture(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as JsonObject
}

export function fixtureNames(beginning: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(beginning))
    .map((file) => file.replace(/\.json$/, ''))
    .toSorted()
}
