// Parses a JSON body strictly: valid UTF-8, valid JSON, no repeated key, no NUL character, no lone surrogate. It knows
// no schema.
import { visit } from 'jsonc-parser'
import { fail, invalid, Failure } from '../runtime/error.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Parses a JSON text; throws `malformed` (400) or, for a repeated key, `invalid` (422). */
export function parseJsonBody(bytes: Buffer): unknown {
  const text = decode(bytes)
  const value = parseOnce(text)
  refuseDuplicateKeys(text)
  // PostgreSQL cannot store U+0000 in a text, and no field needs it.
  if (text.includes('\\u0000')) throw invalid(['body'], 'nul')
  if (/\\u[dD][89a-fA-F]/.test(text) && hasLoneSurrogate(value)) throw invalid(['body'], 'surrogate')
  return value
}

/**
 * A lone surrogate can only be written as an escape. PostgreSQL rejects it in JSON; JSON.stringify escapes lone
 * surrogates and no valid pairs.
 */
function hasLoneSurrogate(value: unknown): boolean {
  return /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(value))
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw fail('malformed', 'utf8')
  }
}

function parseOnce(text: string): unknown {
  if (text.trim() === '') throw fail('malformed', 'emptyBody')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fail('malformed', 'json', { error: (error as Error).message })
  }
}

/** JSON.parse keeps the last of two equal keys; the caller may have meant the other one. */
function refuseDuplicateKeys(text: string): void {
  const objects: Set<string>[] = []
  try {
    visit(text, {
      onObjectBegin: () => void objects.push(new Set()),
      onObjectEnd: () => void objects.pop(),
      onObjectProperty: (key) => {
        const keys = objects.at(-1)!
        if (keys.has(key)) throw invalid(['body', key], 'duplicateKey')
        keys.add(key)
      },
    })
  } catch (error) {
    if (error instanceof Failure) throw error
    // The text is valid JSON (parsed above): an error here is due to its depth.
    throw fail('malformed', 'nesting')
  }
}
