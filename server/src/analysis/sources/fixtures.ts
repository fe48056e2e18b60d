// The deliveries that the tests read: our own, in the formats that the vendors document.
import { readFileSync, readdirSync } from 'node:fs'
import type { JsonObject } from '../json.ts'

const folder = new URL('./fixtures/', import.meta.url)

/** A fresh copy: a test may change it. */
export function fixture(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as JsonObject
}

export function fixtureNames(beginning: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.startsWith(beginning))
    .map((file) => file.replace(/\.json$/, ''))
    .toSorted()
}
