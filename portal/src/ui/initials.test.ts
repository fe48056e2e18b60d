import assert from 'node:assert/strict'
import { it } from 'node:test'
import { initialsOf } from './initials.ts'

it('takes initials of a name or an address', () => {
  const names = ['Dana Demo', 'Dana van der Demo', 'dana', 'dana.demo@example.net', 'Ḋana', '']
  assert.deepEqual(names.map(initialsOf), ['DD', 'DD', 'D', 'DD', 'Ḋ', ''])
})
