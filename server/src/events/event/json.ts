// JSON values from detectors: a canonical text, equal for equal values, and a bounded copy that PostgreSQL can store.
// Pure.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

/** Returns the same text for equal values, whatever the order of their keys: jsonb reorders keys. */
export function canonicalJson(value: Json | undefined): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const object = value as JsonObject
  const pairs = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key])}`)
  return `{${pairs.join(',')}}`
}

/**
 * Returns whether the values are the same JSON, in any order of keys. A field that is undefined is absent; times are
 * compared as times. Unlike the comparison of canonical texts it allocates no memory.
 */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Date || b instanceof Date)
    return a instanceof Date && b instanceof Date && a.getTime() === b.getTime()
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((one, at) => isSameJson(one, b[at]))
    )
  const [x, y] = [a as JsonObject, b as JsonObject]
  for (const key of Object.keys(x)) {
    if (x[key] !== undefined && !(Object.hasOwn(y, key) && isSameJson(x[key], y[key]))) return false
  }
  return Object.keys(y).every((key) => y[key] === undefined || Object.hasOwn(x, key))
}

/** Returns text that PostgreSQL accepts (no NUL, no lone surrogate), of at most `lengthMax` UTF-16 units. */
export function cleanText(text: string, lengthMax: number): string {
  return text.replaceAll('\0', '').slice(0, lengthMax).toWellFormed()
}

const depthMax = 12
const itemsMax = 50
const keysMax = 200
const textMax = 2_000
/** Approximate size of the copy as text. */
const sizeMax = 32_768

/**
 * Returns a bounded copy of JSON from a detector, to be stored with the event: lists, depth, texts and the whole are
 * truncated to limits. The delivery itself is kept in full, so no data is lost.
 */
export function abridgeJson(value: unknown): Json {
  const budget = { left: sizeMax }
  return abridge(value, depthMax, budget)
}

function abridge(value: unknown, depth: number, budget: { left: number }): Json {
  budget.left -= 8
  if (budget.left <= 0) return null
  if (typeof value === 'string') {
    const text = cleanText(value, Math.min(textMax, budget.left))
    budget.left -= text.length
    return text
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean') return value
  if (value === null || typeof value !== 'object' || depth === 0) return null
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => abridge(item, depth - 1, budget))
  const pairs: [string, Json][] = []
  for (const key of Object.keys(value).slice(0, keysMax)) {
    const name = cleanText(key, 200)
    budget.left -= name.length
    if (budget.left <= 0) break
    pairs.push([name, abridge((value as Record<string, unknown>)[key], depth - 1, budget)])
  }
  // fromEntries defines properties: a key "__proto__" remains a key.
  return Object.fromEntries(pairs)
}
