// JSON pointers (RFC 6901): locations of fields in a delivery.
import { settingError } from './source.ts'

export type Pointer = (value: unknown) => unknown

/**
 * Compiles a pointer such as `/alerts/0/labels/ip`; the empty pointer is the whole body. A missing part gives
 * undefined.
 */
export function compilePointer(text: unknown, place: string): Pointer {
  if (typeof text !== 'string' || !/^(\/([^~]|~[01])*)?$/.test(text)) {
    throw settingError(place, 'a JSON pointer is expected, such as /attack/id (RFC 6901)')
  }
  const parts = text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return (value) => parts.reduce(step, value)
}

function step(value: unknown, part: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9][0-9]{0,8})$/.test(part) ? value[Number(part)] : undefined
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
  return (value as Record<string, unknown>)[part]
}
