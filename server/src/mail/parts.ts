// Wires mail: the transport that the configuration names, and the loop of the reconciler role that sends mails. Requests never
// wait for a mail server: they queue a row.
import { createBrandReader, type Brand } from '../brand/brand.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import { createMailTransport } from '../drivers/mail-transports.ts'
import type { SmtpOptions } from '../drivers/mail/smtp-transport.ts'
import type { Parts, Shared } from '../process/shared.ts'
import { findReportFile } from '../report/mailed-report.store.ts'
import { restoreTemplates } from '../restore/inform.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { parseEmail } from '../text/email.ts'
import { isHeaderText, parseMailbox } from '../text/mailbox.ts'
import type { MailTransport } from './mail-transport.ts'
import type { MailTemplate } from './mail.ts'
import { sendMails, type Letterhead, type MailOutcome } from './send-mails.ts'
import { templateNames } from './templates.ts'

type MailConfig = Pick<Config, 'mailUrl' | 'mailFolder' | 'mailFrom' | 'mailReplyTo' | 'providerName'>

/** Returns undefined if neither a server nor a folder is configured. Throws a ConfigError; opens no connection yet. */
export function configuredTransport(config: MailConfig, options?: SmtpOptions): MailTransport | undefined {
  const { mailUrl: url, mailFolder: folder } = config
  return fromSetting('mail_url', () => createMailTransport({ url, folder }, options))
}

/**
 * Returns the sender of mails: the provider, whose support address is the contact unless the settings name another one. Only mails in a folder
 * may lack a configured sender.
 */
export function letterheadOf(
  { mailFrom, mailReplyTo, providerName }: MailConfig,
  { name, support }: Pick<Brand, 'name' | 'support'> = { name: providerName, support: null },
): Letterhead {
  const from = parseMailbox(mailFrom ?? 'pharos@localhost')
  const ofSupport = parseEmail(/^mailto:([^?]*)/.exec(support ?? '')?.[1] ?? '')
  return {
    from: from.name === '' && isHeaderText(name) ? { ...from, name } : from,
    replyTo:
      mailReplyTo !== null
        ? parseMailbox(mailReplyTo)
        : ofSupport === undefined
          ? null
          : { name: '', address: ofSupport },
    provider: name,
  }
}

/** Mails that become due without a notification are sent within this time. */
const intervalMs = 30_000
/** How long a stop waits for mails that are being sent; interrupted ones are sent again. */
const graceMsDefault = 5_000

type MailDeps = Pick<Shared, 'config' | 'postgres' | 'waker' | 'log' | 'metrics' | 'gate'>

export const parts = (shared: Shared): Parts => ({ reconciler: () => [mailPart(shared)] })

export function mailPart(deps: MailDeps, graceMs = graceMsDefault): Component {
  const { config, postgres, log, metrics } = deps
  const transport = configuredTransport(config)
  if (!transport) return disabledPart(log)
  const readBrand = createBrandReader(postgres.owner, config.providerName)
  const loop = createLoopComponent(deps, {
    name: 'mails',
    sends: { gate: deps.gate, whileClosed: (signal) => send(signal, restoreTemplates) },
    wakeName: 'mails',
    intervalMs,
    run: (signal) => send(signal),
  })
  async function send(signal: AbortSignal, templates?: readonly MailTemplate[]): Promise<void> {
    await sendMails(
      {
        db: postgres.owner,
        ring: config.secret,
        transport: transport!,
        attachments: { 'monthly-report': (content) => findReportFile(postgres.owner, content) },
        letterhead: letterheadOf(config, await readBrand()),
        onOutcome: (outcome) => report(outcome, transport!.name, log, metrics),
        ...(templates ? { templates } : {}),
      },
      signal,
    )
  }
  return {
    name: loop.name,
    start() {
      startMailCounters(metrics)
      return loop.start?.()
    },
    async stop() {
      const grace = setTimeout(() => void transport.close(), graceMs)
      await loop.stop()
      clearTimeout(grace)
      await transport.close()
    },
  }
}

/** Starts at 0 like the counters of createMetrics(): alerts would miss the first failures. */
export function startMailCounters({ mails }: Pick<Metrics, 'mails'>): void {
  for (const template of [...templateNames, 'unknown']) mails.inc({ template, outcome: 'failed' }, 0)
}

/** Logs once, in the process that would send them, that mails wait. */
function disabledPart(log: Log): Component {
  return {
    name: 'mails',
    start: () =>
      log.warn('mail is disabled: set mail_url or mail_folder; mails wait in the database until then'),
  }
}

function report(
  { id, template, outcome, error }: MailOutcome,
  through: string,
  log: Log,
  metrics: Metrics,
): void {
  metrics.mails.inc({ template, outcome })
  const line = { mail: id, template, through, reason: error }
  if (outcome === 'failed') log.error(line, 'mail failed')
  else if (outcome === 'postponed') log.warn(line, 'mail not accepted; it is retried')
  else log.debug({ mail: id, template, through }, 'mail sent')
}
