import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTestDatabase } from '../db/testing.ts'
import { createKeyRing } from '../runtime/secrets.ts'
import { AccessTokens } from './access-token.ts'
import { SigningKeys } from './signing-keys.ts'

const ringOf = (...letters: string[]) => createKeyRing(letters.map((letter) => letter.repeat(40)))
const claims = { userId: 7, sessionId: '8d47b489-fa88-4b4d-9f26-dfb524385522', teamId: 3, sessionVersion: 1 }
const day = 86_400_000

async function started(database: Awaited<ReturnType<typeof createTestDatabase>>, ring = ringOf('a')) {
  const errors: string[] = []
  const keys = new SigningKeys(database.postgres.owner, ring, (error) =>
    errors.push((error as Error).message),
  )
  await keys.start()
  keys.stop()
  return { keys, errors }
}

describe('the signing keys', () => {
  it('are shared: a token signed by one process is verified by another', async () => {
    await using database = await createTestDatabase()
    const { keys: one } = await started(database)
    const { keys: two } = await started(database)
    const token = await new AccessTokens(one, 300).sign(claims)
    const { userId, sessionId, teamId } = await new AccessTokens(two, 300).verify(token)
    assert.deepEqual({ userId, sessionId, teamId }, { userId: 7, sessionId: claims.sessionId, teamId: 3 })
    assert.equal(two.jwks().keys.length, 1)
  })

  it('are published before they sign, and remain published until their tokens expire', async () => {
    await using database = await createTestDatabase()
    const { keys } = await started(database)
    const old = keys.current().kid
    const almost = new Date(Date.now() - 30 * day + 60_000)
    await database.postgres.owner.updateTable('signing_keys').set({ active_from: almost }).execute()
    await keys.refresh()
    assert.equal(keys.jwks().keys.length, 2, 'the next key is published')
    assert.equal(keys.current().kid, old, 'the old one still signs')
    await database.postgres.owner
      .updateTable('signing_keys')
      .set({ active_from: new Date(Date.now() - 1_000) })
      .where('kid', '!=', old)
      .execute()
    await keys.refresh()
    assert.notEqual(keys.current().kid, old)
    assert.ok(keys.find(old), 'tokens of the old one are still verified')
  })

  it('are replaced if the secret that sealed them was removed from the ring, which is reported', async () => {
    await using database = await createTestDatabase()
    const { keys: before } = await started(database, ringOf('a'))
    const { keys, errors } = await started(database, ringOf('b'))
    assert.notEqual(keys.current().kid, before.current().kid)
    assert.match(errors.join(), /cannot be opened/)
  })

  it('remain readable while the ring contains their secret', async () => {
    await using database = await createTestDatabase()
    const { keys: before } = await started(database, ringOf('a'))
    const { keys, errors } = await started(database, ringOf('b', 'a'))
    assert.equal(keys.current().kid, before.current().kid)
    assert.deepEqual(errors, [])
  })

  it('reject a token of another kind, issuer, audience or key', async () => {
    await using database = await createTestDatabase()
    const { keys } = await started(database)
    const tokens = new AccessTokens(keys, 300)
    const token = await tokens.sign(claims)
    const [head, body, signature] = token.split('.') as [string, string, string]
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
    for (const forged of [
      `${head}.${body}.`,
      `${none}.${body}.`,
      `${head}.${body}.${signature.slice(1)}A`,
      'x',
      '',
      'a.b.c',
    ]) {
      await assert.rejects(tokens.verify(forged), { code: 'unauthenticated' })
    }
    const expired = await new AccessTokens(keys, -1).sign(claims)
    await assert.rejects(tokens.verify(expired), { code: 'unauthenticated', message: /expired/ })
  })

  it('reject a token that was verified before, once it has expired', async () => {
    await using database = await createTestDatabase()
    const { keys } = await started(database)
    const tokens = new AccessTokens(keys, 2)
    const token = tokens.sign(claims)
    const { expires } = await tokens.verify(token)
    await new Promise((resolve) => setTimeout(resolve, expires.getTime() - Date.now() + 10))
    await assert.rejects(tokens.verify(token), { code: 'unauthenticated', message: /expired/ })
  })

  it('invalidate the tokens that they signed, verified before or not, when they are withdrawn', async () => {
    await using database = await createTestDatabase()
    const { keys } = await started(database)
    const signer = new AccessTokens(keys, 300)
    const reader = new AccessTokens(keys, 300)
    const token = signer.sign(claims)
    await signer.verify(token)
    await reader.verify(token)
    await database.postgres.owner.deleteFrom('signing_keys').execute()
    await keys.refresh()
    for (const tokens of [signer, reader, new AccessTokens(keys, 300)]) {
      await assert.rejects(tokens.verify(token), { code: 'unauthenticated' })
      await tokens.verify(tokens.sign(claims))
    }
  })
})
