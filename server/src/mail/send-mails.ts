// The body of the loop that sends what is due: claim, open, fill in, hand over, mark. A mail goes out at least once: who dies
// between handing over and marking leaves it to be sent again under the same Message-ID. What a mail says is in no error, no
// log and no metric.
import { createHash } from 'node:crypto'
import type { Db } from '../db/postgres.ts'
import { DriverError } from '../runtime/driver-error.ts'
import type { Mailbox } from '../text/mailbox.ts'
import { open, type KeyRing } from '../runtime/secrets.ts'
import type { MailContents, MailTemplate } from './mail.ts'
import type { MailMessage, MailTransport } from './mail-transport.ts'
import { claimMail, saveFailed, savePostponed, saveSent, type ClaimedMail } from './mail.store.ts'
import { fillTemplate, isTemplate, lastsSeconds } from './templates.ts'

/** Whose mails they are. */
export type Letterhead = {
  readonly from: Mailbox
  readonly replyTo: Mailbox | null
  readonly provider: string
}

export type MailOutcome = {
  readonly id: number
  /** `unknown` for one that this version does not have. */
  readonly template: MailTemplate | 'unknown'
  readonly outcome: 'sent' | 'postponed' | 'failed'
  /** Why it was not sent; nothing of what it says. */
  readonly error: string
}

export type SendDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly transport: MailTransport
  readonly letterhead: Letterhead
  readonly onOutcome: (outcome: MailOutcome) => void
  /** From 0 to 1: spreads the attempts of mails that failed together. */
  readonly random?: () => number
}

/** As many at a time as a transport keeps connections. */
const lanes = 4
/** Longer than an attempt may take, with the database away in between. */
export const leaseSeconds = 300
const firstDelaySeconds = 30
const delaySecondsMax = 900
const patienceSeconds = 3 * 86_400

/**
 * Sends everything that is due, and ends early where the way to the server is shut: the next run tries again. Mails that are
 * under way when the signal is aborted are seen to their end. Any number of processes may do this at once.
 */
export async function sendMails(deps: SendDeps, signal: AbortSignal): Promise<void> {
  const shut = new AbortController()
  const either = AbortSignal.any([signal, shut.signal])
  const ended = await Promise.allSettled(
    Array.from({ length: lanes }, () => sendOneByOne(deps, either, () => shut.abort())),
  )
  const failed = ended.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  if (failed) throw failed.reason
}

async function sendOneByOne(deps: SendDeps, signal: AbortSignal, shut: () => void): Promise<void> {
  while (!signal.aborted) {
    const mail = await claimMail(deps.db, leaseSeconds)
    if (!mail) return
    const verdict = await attempt(deps, mail)
    if (verdict.concernsAll) shut()
    await save(deps, mail, verdict)
  }
}

type Verdict = {
  readonly outcome: 'sent' | 'later' | 'never'
  readonly error: string
  /** Any other mail would meet the same now. */
  readonly concernsAll?: boolean
}

/** One attempt; throws nothing that a mail can cause. */
async function attempt({ ring, transport, letterhead }: SendDeps, mail: ClaimedMail): Promise<Verdict> {
  let message: MailMessage
  try {
    message = composeMessage(ring, letterhead, mail)
  } catch (error) {
    return whyNotMade(error)
  }
  try {
    await transport.send(message)
    return { outcome: 'sent', error: '' }
  } catch (error) {
    return whyNotSent(error)
  }
}

/** Why a mail cannot be made, in words that are fixed. */
class MailDefect extends Error {
  readonly outcome: 'later' | 'never'

  constructor(outcome: 'later' | 'never', message: string) {
    super(message)
    this.outcome = outcome
  }
}

function whyNotMade(error: unknown): Verdict {
  if (error instanceof MailDefect) return { outcome: error.outcome, error: error.message }
  // The message of an error of ours could quote the content; its name cannot.
  return {
    outcome: 'later',
    error: `the mail cannot be filled in: ${error instanceof Error ? error.name : 'Error'}`,
  }
}

function whyNotSent(error: unknown): Verdict {
  if (!(error instanceof DriverError))
    return {
      outcome: 'later',
      error: `a defect of the transport: ${error instanceof Error ? error.name : 'Error'}`,
    }
  const { kind, message } = error
  if (kind === 'refused') return { outcome: 'never', error: message }
  return { outcome: 'later', error: message, concernsAll: kind !== 'postponed' }
}

function composeMessage(
  ring: KeyRing,
  { from, replyTo, provider }: Letterhead,
  mail: ClaimedMail,
): MailMessage {
  const { recipient, template, created } = mail
  // A newer version of the other processes has queued it, and sends it.
  if (!isTemplate(template)) throw new MailDefect('later', `this version has no template ${template}`)
  const content = openContent(ring, mail) as MailContents['test']
  if (mail.ageSeconds >= lastsSeconds(template, content))
    throw new MailDefect('never', 'its link was over before it could be sent')
  const sender = { provider, contact: (replyTo ?? from).address }
  const rendered = fillTemplate(template, content, sender)
  return { id: messageId(mail), date: created, from, replyTo, to: recipient, ...rendered }
}

function openContent(ring: KeyRing, { contentSealed, template }: ClaimedMail): unknown {
  let plain: Buffer
  try {
    plain = open(ring, 'mail', contentSealed, template)
  } catch (error) {
    throw new MailDefect('never', `its content cannot be opened: ${(error as Error).message}`)
  }
  return JSON.parse(plain.toString('utf8'))
}

/** The same at every attempt, of no other mail, and telling nobody how many there are. */
function messageId({ id, created }: ClaimedMail): string {
  return createHash('sha256').update(`${id} ${created.toISOString()}`).digest('hex').slice(0, 32)
}

async function save({ db, random = Math.random, onOutcome }: SendDeps, mail: ClaimedMail, verdict: Verdict) {
  const outcome = outcomeOf(verdict, mail)
  const error =
    verdict.outcome === 'later' && outcome === 'failed'
      ? `given up after three days: ${verdict.error}`
      : verdict.error
  if (outcome === 'sent') await saveSent(db, mail.id)
  else if (outcome === 'failed') await saveFailed(db, mail.id, error)
  else await savePostponed(db, mail, error, delaySeconds(mail.attempts, random()))
  onOutcome({ id: mail.id, template: isTemplate(mail.template) ? mail.template : 'unknown', outcome, error })
}

function outcomeOf({ outcome }: Verdict, { ageSeconds }: ClaimedMail): MailOutcome['outcome'] {
  if (outcome === 'sent') return 'sent'
  return outcome === 'never' || ageSeconds >= patienceSeconds ? 'failed' : 'postponed'
}

/** Half a minute after the first attempt, twice as long after each further one, a quarter of an hour at most; a quarter of it either way. */
export function delaySeconds(attempts: number, random: number): number {
  return Math.min(firstDelaySeconds * 2 ** (attempts - 1), delaySecondsMax) * (0.75 + random / 2)
}
