// For tests: arbitraries of names for property tests.
import * as fc from 'fast-check'
import { parseName } from './name.ts'
import type { DomainName } from './name.ts'

/** Octets that need escapes, octets that do not, and octets that differ only by case. */
const octet = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(...[...'abcdABCD012-_*'].map((character) => character.charCodeAt(0))),
  },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 2, 32, 46, 92, 34, 59, 255) },
  { weight: 1, arbitrary: fc.nat(255) },
)

/** A label in presentation format, in any spelling of its octets. */
const label: fc.Arbitrary<string> = fc
  .array(octet, { minLength: 1, maxLength: 8 })
  .map((octets) =>
    octets
      .map((octet) =>
        (octet >= 48 && octet <= 57) ||
        ((octet | 32) >= 97 && (octet | 32) <= 122) ||
        octet === 45 ||
        octet === 95
          ? String.fromCharCode(octet)
          : `\\${String(octet).padStart(3, '0')}`,
      )
      .join(''),
  )

/** Canonical names that often share a suffix. */
export const domainName: fc.Arbitrary<DomainName> = fc
  .tuple(
    fc.array(label, { maxLength: 3 }),
    fc.constantFrom('', 'example.', 'example.com.', 'a.b.c.d.example.com.'),
  )
  .map(([labels, suffix]) => parseName(labels.length === 0 ? suffix || '.' : `${labels.join('.')}.${suffix}`))
