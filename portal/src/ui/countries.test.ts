import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isCountry } from '../../../server/src/text/country.ts'
import { countryOptions } from './countries.ts'

describe('the country picker', () => {
  it('has the countries that the server accepts, by name', () => {
    const options = countryOptions()
    assert.deepEqual(
      options.filter(({ value }) => !isCountry(value)),
      [],
    )
    assert.equal(options.length, 249)
    assert.equal(options.find(({ value }) => value === 'NL')!.label, 'Netherlands')
  })
})
