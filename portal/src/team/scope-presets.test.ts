import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scopes } from '@pharos/contract/scope'
import { curlOf, presets, readScopes, writeScopes } from './scope-presets.ts'

describe('the scopes of a new API token', () => {
  it('are each in one of the two groups', () => {
    assert.deepEqual([...readScopes, ...writeScopes].sort(), [...scopes].sort())
  })

  it('never write in a preset that is called read only or monitoring', () => {
    for (const name of ['read', 'monitoring'] as const)
      assert.ok(presets[name].scopes.every((scope) => readScopes.includes(scope)))
  })

  it('decide which request the example makes', () => {
    assert.match(curlOf('https://portal.example.net', 'phs_x', ['ipam:write', 'team:read']), /teams\/current/)
    assert.match(curlOf('https://portal.example.net', 'phs_x', ['ipam:write']), /session\/token/)
  })
})
