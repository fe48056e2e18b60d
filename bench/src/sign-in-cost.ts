// ID1: the processor time of a sign-in without a password, beside that of a password: verifying an answer of SAML, through the thread that does it; redeeming a code of
// OpenID Connect, whose provider answers from memory; and checking a passkey, without the time of PostgreSQL. The drivers take the time of the answer as their own.
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { sql } from 'kysely'
import { createOidc } from '../../server/src/drivers/oidc/provider.ts'
import type { OutgoingFetch } from '../../server/src/drivers/outgoing/fetch.ts'
import { createSaml } from '../../server/src/drivers/saml/provider.ts'
import {
  expected,
  idpKey,
  signedResponse,
  toBase64,
} from '../../server/src/drivers/saml/testing-responses.ts'
import type { FlowAnswer, SamlSettings } from '../../server/src/identity/identity-provider.ts'
import { createKeyRing } from '../../server/src/runtime/secrets.ts'
import { createChallenge } from '../../server/src/session/passkey-challenge.ts'
import {
  checkPasskey,
  checkRegistration,
  passkeyRequestOf,
  signInUse,
  userHandleOf,
} from '../../server/src/session/passkey-check.ts'
import { argon2Hash, argon2Verify } from '../../server/src/session/password-hash.ts'
import { relyingPartyOf } from '../../server/src/session/relying-party.ts'
import { Authenticator } from '../../server/test/support/authenticator.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { seedTeams, seedUsers } from './people.ts'
import { productSecret } from './product.ts'

export const signInCost: Benchmark = {
  id: 'ID1',
  name: 'sign-in-cost',
  title: 'processor time of a sign-in by passkey, OpenID Connect and SAML, beside the password',
  missing: () => undefined,
  run,
}

const goalMs = 15
const answerBytes = 20_000
const settings: SamlSettings = {
  kind: 'saml',
  key: 'k3j5mq2xw7ab',
  entityId: expected.issuer,
  signOnUrl: 'https://idp.example/sso',
  certificates: [idpKey.certificate],
  audience: expected.audience,
  acsUrl: expected.recipient,
  groupsClaim: expected.groupsAttribute,
  secondFactorValues: [],
}

async function run(bench: Bench): Promise<Line[]> {
  const { quick, rounds } = bench
  const times = quick ? 20 : 300
  const saml = createSaml({ claimAssertion: async () => true, now: () => new Date(expected.now) })(settings)
  const hash = await argon2Hash('correct horse battery staple')
  const password = () => argon2Verify(hash, 'correct horse battery staple')
  const ofSaml = (signs: 'assertion' | 'both') => {
    const samlResponse = answerOf(signs)
    const signed = signs === 'both' ? 'response and assertion' : 'assertion'
    return {
      what: `SAML, ${signed} signed, ${(samlResponse.length / 1000).toFixed(0)} kB of base64`,
      goalMs,
      sign: () => saml.finish({ requestId: expected.requestId }, { state: 's', samlResponse }),
    }
  }
  const ways = [
    { what: 'passkey, without PostgreSQL', goalMs: 5, sign: await preparePasskey(bench, times, rounds) },
    { what: 'OpenID Connect, a code redeemed', goalMs: 5, sign: await prepareOidc() },
    ofSaml('assertion'),
    ofSaml('both'),
  ]
  const lines: Line[] = []
  for (const { what, goalMs: most, sign } of ways) {
    const [ofPassword, own] = [[], []] as number[][]
    for (let round = 0; round < rounds; round++) {
      ofPassword!.push(await cost(times, password))
      own!.push(await cost(times, sign))
    }
    const [peer, ours] = [Math.min(...ofPassword!), Math.min(...own!)]
    lines.push({
      what,
      result: `${ours.toFixed(1)} ms`,
      peer: `password (argon2id): ${peer.toFixed(1)} ms`,
      ratio: `${(peer / ours).toFixed(2)}x`,
      goal: `<= ${most} ms`,
      reached: ours <= most,
    })
  }
  return lines
}

/** The same code each time: the provider answers with one ID token, which states all claims. */
async function prepareOidc(): Promise<() => Promise<unknown>> {
  const [issuer, kid, nonce] = ['https://idp.example', 'k', 'n']
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const claims = { nonce, email: 'anna@red.example', email_verified: true, groups: ['net-ops'] }
  const idToken = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid })
    .setIssuer(issuer)
    .setAudience('pharos')
    .setSubject('anna-1')
    .setIssuedAt()
    .setExpirationTime('4h')
    .sign(privateKey)
  const answers: Readonly<Record<string, object>> = {
    '/.well-known/openid-configuration': {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    },
    '/jwks': { keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' }] },
    '/token': { access_token: 'a', token_type: 'bearer', id_token: idToken },
  }
  const fetch = (async (url: string | URL) => Response.json(answers[new URL(url).pathname])) as OutgoingFetch
  const provider = createOidc({ fetch })({
    kind: 'oidc',
    key: settings.key,
    issuer,
    clientId: 'pharos',
    clientSecret: 'a-secret',
    groupsClaim: 'groups',
    secondFactorValues: [],
    domains: ['red.example'],
    redirectUri: 'https://portal.example/sign-in/return/k3j5mq2xw7ab',
  })
  const answer: FlowAnswer = { state: 's', code: 'c', iss: issuer }
  return () => provider.finish({ nonce, verifier: 'v'.repeat(43) }, answer)
}

/** With an assertion for each sign-in, signed before. */
async function preparePasskey(
  { cluster }: Bench,
  times: number,
  rounds: number,
): Promise<() => Promise<unknown>> {
  const postgres = await (
    await cluster()
  ).database('passkeys', async (client) => {
    await seedTeams(client, 1)
    await seedUsers(client, 1, 1)
  })
  const ring = createKeyRing([productSecret])
  const relyingParty = relyingPartyOf('https://portal.example', 'Example Net')!
  const deps = { db: postgres.owner, ring, relyingParty }
  const authenticator = new Authenticator(relyingParty.origin)
  const use = { use: 'register', subject: 'session' } as const
  const created = authenticator.create({
    challenge: createChallenge(ring, use),
    rp: { id: relyingParty.id, name: relyingParty.name },
    user: { id: userHandleOf(1), name: '', displayName: '' },
    pubKeyCredParams: [],
    timeout: 1,
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    attestation: 'none',
  })
  const registered = await checkRegistration(deps, use, created)
  await sql`delete from passkeys`.execute(postgres.owner)
  await sql`
    insert into passkeys (user_id, credential_id, public_key, counter, transports, backed_up, aaguid, relying_party, name)
    values (1, ${created.id}, ${Buffer.from(registered!.credential.publicKey)}, 0, '{internal}', false, gen_random_uuid(),
      ${relyingParty.id}, 'Laptop')`.execute(postgres.owner)
  const assertions = Array.from({ length: (times + 1) * rounds }, () =>
    authenticator.get(passkeyRequestOf(ring, relyingParty, signInUse)),
  )
  return async () => {
    const { kind } = await checkPasskey(deps, signInUse, assertions.shift()!)
    if (kind !== 'accepted') throw new Error(`the passkey is ${kind}`)
  }
}

/** An honest answer with as many groups as make it that large. */
function answerOf(signs: 'assertion' | 'both'): string {
  const groups: string[] = []
  for (;;) {
    const answer = toBase64(signedResponse(signs, { groups }))
    if (answer.length >= answerBytes) return answer
    groups.push(`group-${groups.length}-of-the-company`)
  }
}

/** Milliseconds of processor time of one, with those of the threads. */
async function cost(times: number, sign: () => Promise<unknown>): Promise<number> {
  await sign()
  const before = process.cpuUsage()
  for (let at = 0; at < times; at++) await sign()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / times
}
