// Sends the mails that are due. A mail is sent at least once: if the process dies between sending and saving, it is
// sent again with the same Message-ID. The content of a mail is in no error, log or metric.
import { createHash } from 'node:crypto'
import { createDueWorker } from '../db/due-work.ts'
import type { Db } from '../db/postgres.ts'
import { backOff } from '../runtime/back-off.ts'
import { DriverError } from '../runtime/driver-error.ts'
import type { Mailbox } from '../text/mailbox.ts'
import { open, type KeyRing } from '../runtime/secrets.ts'
import type { MailContents, MailTemplate } from './mail.ts'
import type { MailAttachment, MailMessage, MailTransport } from './mail-transport.ts'
import { claimMails, saveFailed, savePostponed, saveSent, type ClaimedMail } from './mail.store.ts'
import { fillTemplate, isTemplate, lifetimeSeconds } from './templates.ts'

/** The sender as shown in mails. */
export type Letterhead = {
  readonly from: Mailbox
  readonly replyTo: Mailbox | null
  readonly provider: string
}

export type MailOutcome = {
  readonly id: number
  /** `unknown` if this version does not have the template. */
  readonly template: MailTemplate | 'unknown'
  readonly outcome: 'sent' | 'postponed' | 'failed'
  /** The reason for the failure, without any content of the mail. */
  readonly error: string
}

/** Each returns the file of a mail; undefined if it does not exist any more, and the mail fails. */
export type ReadAttachments = {
  readonly [T in MailTemplate]?: (content: MailContents[T]) => Promise<MailAttachment | undefined>
}

export type SendMailsDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly transport: MailTransport
  readonly letterhead: Letterhead
  /** The files of templates that have one. */
  readonly attachments?: ReadAttachments
  readonly onOutcome: (outcome: MailOutcome) => void
  /** Only these are sent; by default all. */
  readonly templates?: readonly MailTemplate[]
  /** From 0 to 1: jitter for the attempts of mails that failed together. */
  readonly random?: () => number
}

/** The number of connections that a transport keeps. */
const parallel = 4
/** Lease in seconds; must exceed an attempt, including an outage of the database in between. */
export const mailLeaseSeconds = 300
const delaySecondsRange = { first: 30, max: 900 }
/** A mail that could not be sent for this long fails. */
const ageSecondsMax = 3 * 86_400

/**
 * Sends all mails that are due. Ends early if the mail server cannot be reached: the next run tries again. Mails that are being
 * sent when the signal is aborted are sent to the end. Rejects with the first error of the database.
 */
export async function sendMails(deps: SendMailsDeps, signal: AbortSignal): Promise<void> {
  const ended = new AbortController()
  const errors: unknown[] = []
  const worker = createDueWorker<ClaimedMail>({
    parallel,
    claim: (limit) => claimMails(deps.db, limit, mailLeaseSeconds, deps.templates),
    async work(mail) {
      const attempted = await attempt(deps, mail)
      if (attempted.concernsAll) ended.abort()
      await save(deps, mail, attempted)
    },
    onError(error) {
      errors.push(error)
      ended.abort()
    },
  })
  await worker.drain(AbortSignal.any([signal, ended.signal]))
  if (errors.length > 0) throw errors[0]
}

type MailAttempt = {
  readonly outcome: 'sent' | 'later' | 'never'
  readonly error: string
  /** Any other mail would fail in the same way now. */
  readonly concernsAll?: boolean
}

/** Attempts to send the mail once. Never rejects because of a mail. */
async function attempt(
  { ring, transport, letterhead, attachments }: SendMailsDeps,
  mail: ClaimedMail,
): Promise<MailAttempt> {
  let message: MailMessage
  try {
    message = await composeMessage(ring, letterhead, attachments ?? {}, mail)
  } catch (error) {
    return composeFailure(error)
  }
  try {
    await transport.send(message)
    return { outcome: 'sent', error: '' }
  } catch (error) {
    return sendFailure(error)
  }
}

/** A fixed phrase: why the mail cannot be composed. */
class MailDefect extends Error {
  readonly outcome: 'later' | 'never'

  constructor(outcome: 'later' | 'never', message: string) {
    super(message)
    this.outcome = outcome
  }
}

function composeFailure(error: unknown): MailAttempt {
  if (error instanceof MailDefect) return { outcome: error.outcome, error: error.message }
  // The message of the error could quote the content; its name cannot.
  return {
    outcome: 'later',
    error: `the mail cannot be composed: ${error instanceof Error ? error.name : 'Error'}`,
  }
}

function sendFailure(error: unknown): MailAttempt {
  if (!(error instanceof DriverError))
    return {
      outcome: 'later',
      error: `a defect of the transport: ${error instanceof Error ? error.name : 'Error'}`,
    }
  const { kind, message } = error
  if (kind === 'refused') return { outcome: 'never', error: message }
  return { outcome: 'later', error: message, concernsAll: kind !== 'postponed' }
}

async function composeMessage(
  ring: KeyRing,
  { from, replyTo, provider }: Letterhead,
  attachments: ReadAttachments,
  mail: ClaimedMail,
): Promise<MailMessage> {
  const { recipient, template, created } = mail
  // Queued by a newer version in another process, which sends it.
  if (!isTemplate(template)) throw new MailDefect('later', `this version has no template ${template}`)
  const content = openContent(ring, mail) as MailContents['test']
  if (mail.ageSeconds >= lifetimeSeconds(template, content))
    throw new MailDefect('never', 'its link expired before it could be sent')
  const sender = { provider, contact: (replyTo ?? from).address }
  const rendered = fillTemplate(template, content, sender)
  const message = { id: messageId(mail), date: created, from, replyTo, to: recipient, ...rendered }
  const read = attachments[template] as
    | ((content: unknown) => Promise<MailAttachment | undefined>)
    | undefined
  if (!read) return message
  const attachment = await read(content)
  if (!attachment) throw new MailDefect('never', 'its attachment was deleted before it could be sent')
  return { ...message, attachment }
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

/** The same for every attempt and unique to the mail; does not reveal how many mails there are. */
function messageId({ id, created }: ClaimedMail): string {
  return createHash('sha256').update(`${id} ${created.toISOString()}`).digest('hex').slice(0, 32)
}

async function save(
  { db, random = Math.random, onOutcome }: SendMailsDeps,
  mail: ClaimedMail,
  attempted: MailAttempt,
): Promise<void> {
  const outcome = outcomeOf(attempted, mail)
  const error =
    attempted.outcome === 'later' && outcome === 'failed'
      ? `not sent within three days: ${attempted.error}`
      : attempted.error
  if (outcome === 'sent') await saveSent(db, mail.id)
  else if (outcome === 'failed') await saveFailed(db, mail.id, error)
  else await savePostponed(db, mail, error, delaySeconds(mail.attempts, random()))
  onOutcome({ id: mail.id, template: isTemplate(mail.template) ? mail.template : 'unknown', outcome, error })
}

function outcomeOf({ outcome }: MailAttempt, { ageSeconds }: ClaimedMail): MailOutcome['outcome'] {
  if (outcome === 'sent') return 'sent'
  return outcome === 'never' || ageSeconds >= ageSecondsMax ? 'failed' : 'postponed'
}

/**
 * The delay after an attempt, with 25 % jitter in both directions so that mails that failed together are not retried
 * together.
 */
export function delaySeconds(attempts: number, random: number): number {
  return backOff(attempts, delaySecondsRange) * (0.75 + random / 2)
}
