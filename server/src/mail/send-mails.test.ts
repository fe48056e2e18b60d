import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, type TestDatabase } from '../db/testing.ts'
import { DriverError, type DriverErrorKind } from '../runtime/driver-error.ts'
import { createKeyRing, type KeyRing } from '../runtime/secrets.ts'
import type { MailMessage, MailTransport } from './mail-transport.ts'
import { queueMail, type NewMail } from './mail.ts'
import { claimMails, savePostponed } from './mail.store.ts'
import { delaySeconds, mailLeaseSeconds, sendMails, type MailOutcome } from './send-mails.ts'

const ring = createKeyRing(['a-secret-of-at-least-thirty-two-bytes'])
const otherRing = createKeyRing(['another-secret-of-at-least-thirty-two'])
const secret = 'phm_reset.17.aVeryLongSecretThatNobodyElseMaySee'
const never = new AbortController().signal

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database[Symbol.asyncDispose]())
beforeEach(async () => void (await sql`delete from mails`.execute(database.postgres.owner)))

const reset = (to = 'anna@customer.example'): NewMail<'password-reset'> => ({
  to,
  teamId: null,
  template: 'password-reset',
  content: { link: `https://net.example/reset-password#${secret}`, minutes: 60 },
})

/** A template without a link, which never expires. */
const notice = (): NewMail<'password-changed'> => ({
  to: 'anna@customer.example',
  teamId: null,
  template: 'password-changed',
  content: { at: '2026-01-31T12:00:00Z', address: '192.0.2.1' },
})

const queue = (mail: NewMail<'password-reset'> | NewMail<'password-changed'> = reset()) =>
  queueMail(database.postgres.owner, ring, mail)

type Post = {
  readonly sent: MailMessage[]
  readonly outcomes: MailOutcome[]
  /** Highest number of mails being sent at the same time. */
  most: number
  run(signal?: AbortSignal, keys?: KeyRing): Promise<void>
}

/** A transport that records mails, unless `onSend` throws, and one run of the loop with it. */
function createPost(onSend: (message: MailMessage) => unknown = () => {}): Post {
  let open = 0
  const transport: MailTransport = {
    name: 'test',
    async send(message) {
      post.most = Math.max(post.most, ++open)
      try {
        await new Promise((resolve) => setImmediate(resolve))
        await onSend(message)
        post.sent.push(message)
        return 'taken'
      } finally {
        open--
      }
    },
    close: async () => {},
  }
  const post: Post = {
    sent: [],
    outcomes: [],
    most: 0,
    run: (signal = never, keys = ring) =>
      sendMails(
        {
          db: database.postgres.owner,
          ring: keys,
          transport,
          letterhead,
          onOutcome: (outcome) => post.outcomes.push(outcome),
          random: () => 0.5,
        },
        signal,
      ),
  }
  return post
}

const letterhead = {
  from: { name: 'Example Net', address: 'noreply@net.example' },
  replyTo: null,
  provider: 'Example Net',
}

type Row = {
  attempts: number
  sent: Date | null
  failed: Date | null
  error: string | null
  has_content: boolean
  due_in: number
}

async function rows(): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select attempts, sent, failed, error, content_sealed is not null as has_content,
      extract(epoch from due - now())::double precision as due_in
    from mails order by id`.execute(database.postgres.owner)
  return rows
}

const row = async (): Promise<Row> => (await rows())[0]!

/** Shifts the times of all mails, as if that much time had passed. */
const later = (seconds: number) =>
  sql`update mails set due = due - make_interval(secs => ${seconds}), created = created - make_interval(secs => ${seconds})`.execute(
    database.postgres.owner,
  )

const failWith = (kind: DriverErrorKind) => () => {
  throw new DriverError(kind, `the server reports ${kind}`)
}

test('a run sends no further mail once a restore is open', async () => {
  const { owner } = database.postgres
  for (let at = 0; at < 12; at++) await queue()
  let opened: Promise<unknown> | undefined
  const post = createPost(
    () => (opened ??= sql`insert into restores (reason, evidence) values ('by_hand', '{}')`.execute(owner)),
  )
  await post.run()
  // As many are sent at a time.
  assert.ok(post.sent.length > 0 && post.sent.length <= 4, `${post.sent.length} were sent`)
  await sql`delete from restores`.execute(owner)
  await post.run()
  assert.equal(post.sent.length, 12)
})

test('a mail that is due is sent and marked, and its content is deleted', async () => {
  await queue()
  const post = createPost()
  await post.run()
  const [message] = post.sent
  assert.equal(message?.to, 'anna@customer.example')
  assert.ok(message.text.includes(secret) && message.html.includes(secret))
  assert.equal(message.subject, 'Reset your password')
  const { sent, failed, error, has_content, attempts } = await row()
  assert.ok(sent)
  assert.deepEqual(
    { failed, error, has_content, attempts },
    { failed: null, error: null, has_content: false, attempts: 1 },
  )
  assert.deepEqual(
    post.outcomes.map(({ outcome, template }) => [template, outcome]),
    [['password-reset', 'sent']],
  )
  await post.run()
  assert.equal(post.sent.length, 1)
})

test('a mail of a transaction that was rolled back is not sent', async () => {
  await database.postgres.owner
    .transaction()
    .execute(async (trx) => {
      await queueMail(trx, ring, reset())
      throw new Error('taken back')
    })
    .catch(() => {})
  const post = createPost()
  await post.run()
  assert.deepEqual(post.sent, [])
})

test('a team may queue its own mails in its transaction, but read none', async () => {
  const { owner } = database.postgres
  const { rows: teams } = await sql<{
    id: number
  }>`insert into teams (slug, name) values ('red', 'Red') returning id`.execute(owner)
  const teamId = teams[0]!.id
  await database.postgres.inTeam(teamId, (trx) => queueMail(trx, ring, { ...reset(), teamId }))
  await assert.rejects(database.postgres.inTeam(teamId, (trx) => sql`select * from mails`.execute(trx)))
  await assert.rejects(
    database.postgres.inTeam(teamId, (trx) => queueMail(trx, ring, { ...reset(), teamId: teamId + 1 })),
  )
  const post = createPost()
  await post.run()
  assert.equal(post.sent.length, 1)
})

test('concurrent processes send each mail once, a few at a time', async () => {
  await Promise.all(Array.from({ length: 60 }, (_, at) => queue(reset(`a${at}@customer.example`))))
  const posts = [createPost(), createPost(), createPost()]
  await Promise.all(posts.map((post) => post.run()))
  const recipients = posts.flatMap(({ sent }) => sent.map(({ to }) => to))
  assert.equal(recipients.length, 60)
  assert.equal(new Set(recipients).size, 60)
  for (const { most } of posts) assert.ok(most <= 4)
})

test('a mail whose process died is sent after its lease expires, and not before', async () => {
  await queue()
  const claimed = await claimMails(database.postgres.owner, 1, mailLeaseSeconds)
  assert.equal(claimed.length, 1)
  const post = createPost()
  await post.run()
  assert.deepEqual(post.sent, [])
  const { due_in } = await row()
  assert.ok(due_in > mailLeaseSeconds - 60 && due_in <= mailLeaseSeconds, String(due_in))
  await later(mailLeaseSeconds)
  await post.run()
  assert.equal(post.sent.length, 1)
  assert.equal((await row()).attempts, 2)
})

test('a mail has the same unique Message-ID at every attempt', async () => {
  await queue()
  await queue()
  const tried: string[] = []
  const post = createPost(({ id }) => {
    tried.push(id)
    throw new DriverError('postponed', 'not now')
  })
  await post.run()
  await sql`update mails set due = now()`.execute(database.postgres.owner)
  await post.run()
  assert.equal(tried.length, 4)
  assert.equal(new Set(tried).size, 2)
})

for (const kind of ['postponed', 'unreachable', 'protocol'] as const) {
  test(`${kind}: the mail is retried later`, async () => {
    await queue()
    const post = createPost(failWith(kind))
    await post.run()
    const { sent, failed, error, has_content, due_in } = await row()
    assert.deepEqual(
      { sent, failed, error, has_content },
      { sent: null, failed: null, error: `the server reports ${kind}`, has_content: true },
    )
    assert.ok(due_in > 0 && due_in <= 60, String(due_in))
    await post.run()
    assert.equal((await row()).attempts, 1, 'it is not due yet')
    await later(60)
    const mended = createPost()
    await mended.run()
    assert.equal(mended.sent.length, 1)
    assert.equal((await row()).error, null)
  })
}

test('refused: the mail fails at once, and its content is deleted', async () => {
  await queue()
  const post = createPost(failWith('refused'))
  await post.run()
  const { sent, failed, error, has_content } = await row()
  assert.ok(failed)
  assert.deepEqual(
    { sent, error, has_content },
    { sent: null, error: 'the server reports refused', has_content: false },
  )
  assert.deepEqual(
    post.outcomes.map(({ outcome }) => outcome),
    ['failed'],
  )
})

test('a mail that was postponed for three days fails', async () => {
  await queue(notice())
  const post = createPost(failWith('unreachable'))
  await later(3 * 86_400 - 60)
  await post.run()
  assert.equal((await row()).failed, null)
  await later(120)
  await post.run()
  const { failed, error, has_content } = await row()
  assert.ok(failed)
  assert.deepEqual(
    { error, has_content },
    { error: 'not sent within three days: the server reports unreachable', has_content: false },
  )
})

test('a mail whose link has expired fails without an attempt, and one with a valid link is sent', async () => {
  await queue()
  await later(59 * 60)
  const post = createPost()
  await post.run()
  assert.equal(post.sent.length, 1)
  await queue()
  await later(61 * 60)
  await post.run()
  assert.equal(post.sent.length, 1)
  const { failed, error, has_content } = (await rows())[1]!
  assert.ok(failed)
  assert.deepEqual(
    { error, has_content },
    { error: 'its link expired before it could be sent', has_content: false },
  )
})

test('a mail that waited longer than that for a server is still attempted', async () => {
  await queue(notice())
  await later(10 * 86_400)
  const post = createPost()
  await post.run()
  assert.equal(post.sent.length, 1)
})

test('the back-off grows to 15 minutes, with jitter', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 100, 5_000].map((attempts) => delaySeconds(attempts, 0.5)),
    [30, 60, 120, 240, 480, 900, 900, 900],
  )
  assert.deepEqual(
    [0, 1].map((random) => delaySeconds(1, random)),
    [22.5, 37.5],
  )
})

test('if the server is unreachable, a run tries a few mails and leaves the others unchanged', async () => {
  await Promise.all(Array.from({ length: 30 }, () => queue()))
  await createPost(failWith('unreachable')).run()
  const tried = (await rows()).filter(({ attempts }) => attempts > 0).length
  assert.ok(tried >= 1 && tried <= 4, `${tried} were tried`)
  const post = createPost()
  await post.run()
  assert.equal(post.sent.length, 30 - tried)
})

test('a mail that is postponed does not delay other mails', async () => {
  await queue(reset('grey@customer.example'))
  await Promise.all(Array.from({ length: 10 }, () => queue()))
  const post = createPost(({ to }) => {
    if (to === 'grey@customer.example') throw new DriverError('postponed', 'not now')
  })
  await post.run()
  assert.equal(post.sent.length, 10)
})

test('a mail whose key was removed from the ring fails with the reason', async () => {
  await queue()
  const post = createPost()
  await post.run(never, otherRing)
  const { failed, error, has_content } = await row()
  assert.ok(failed)
  assert.equal(has_content, false)
  assert.match(error!, /^its content cannot be opened: .*not in PHAROS_SECRET/)
  assert.deepEqual(
    post.outcomes.map(({ outcome }) => outcome),
    ['failed'],
  )
})

test('a content that was moved to another template is not decrypted', async () => {
  await queue()
  await sql`update mails set template = 'invitation'`.execute(database.postgres.owner)
  await createPost().run()
  assert.match((await row()).error!, /cannot be opened/)
})

test('a mail with a template of a newer version waits for a process that has the template', async () => {
  await queue()
  await sql`update mails set template = 'from-the-future'`.execute(database.postgres.owner)
  const post = createPost()
  await post.run()
  const { failed, error, has_content } = await row()
  assert.deepEqual({ failed, has_content }, { failed: null, has_content: true })
  assert.equal(error, 'this version has no template from-the-future')
  assert.deepEqual(
    post.outcomes.map(({ template }) => template),
    ['unknown'],
  )
})

test('the content of a mail is in no error and no outcome, whatever fails', async () => {
  const { owner } = database.postgres
  // A link that no template accepts, and errors of a transport that quote the mail.
  await queueMail(owner, ring, { ...reset(), content: { link: `javascript:${secret}`, minutes: 60 } })
  await queue(reset('one@customer.example'))
  await queue(reset('two@customer.example'))
  const post = createPost(({ to, text }) => {
    throw to.startsWith('one') ? new Error(text) : new TypeError(text)
  })
  await post.run()
  const errors = (await rows()).map(({ error }) => error)
  assert.deepEqual(errors.toSorted(), [
    'a defect of the transport: Error',
    'a defect of the transport: TypeError',
    'the mail cannot be composed: TypeError',
  ])
  assert.doesNotMatch(JSON.stringify([errors, post.outcomes]), /phm_|Secret/)
})

test('a run that is stopped completes the mails in progress and starts no others', async () => {
  await Promise.all(Array.from({ length: 20 }, () => queue()))
  const stop = new AbortController()
  const post = createPost(() => stop.abort())
  await post.run(stop.signal)
  const all = await rows()
  assert.equal(all.filter(({ sent }) => sent !== null).length, post.sent.length)
  assert.ok(post.sent.length >= 1 && post.sent.length <= 4, `${post.sent.length} were sent`)
  assert.ok(all.every(({ sent, attempts }) => (sent !== null) === (attempts === 1)))
})

test('a late result after an expired lease does not affect the process that sends the mail now', async () => {
  const { owner } = database.postgres
  await queue()
  const [first] = await claimMails(owner, 1, mailLeaseSeconds)
  await later(mailLeaseSeconds)
  const [second] = await claimMails(owner, 1, mailLeaseSeconds)
  assert.deepEqual([first?.attempts, second?.attempts], [1, 2])
  await savePostponed(owner, first!, 'not now', 0)
  assert.equal((await row()).error, null)
  assert.deepEqual(await claimMails(owner, 1, mailLeaseSeconds), [], 'the second lease is still valid')
  await savePostponed(owner, second!, 'not now', 0)
  assert.equal((await claimMails(owner, 1, mailLeaseSeconds))[0]?.attempts, 3)
})

test('a mail is deleted with its team', async () => {
  const { owner } = database.postgres
  const { rows: teams } = await sql<{
    id: number
  }>`insert into teams (slug, name) values ('gone', 'G') returning id`.execute(owner)
  await queue({ ...reset(), teamId: teams[0]!.id })
  const post = createPost(() => sql`delete from teams where slug = 'gone'`.execute(owner))
  await post.run()
  assert.deepEqual(await rows(), [])
  assert.equal(post.sent.length, 1)
})
