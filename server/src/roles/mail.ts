// Mail, wired: where it goes by the configuration, and the loop of the reconciler role that sends what is due. Requests never
// meet a mail server: they leave a row, and this is the only place that waits for anybody.
import { createMailTransport } from '../drivers/mail-transports.ts'
import type { SmtpOptions } from '../drivers/mail/smtp-transport.ts'
import type { MailTransport } from '../mail/mail-transport.ts'
import { sendMails, type Letterhead, type MailOutcome } from '../mail/send-mails.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop } from '../runtime/loop.ts'
import { parseMailbox } from '../text/mailbox.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { fromSetting } from './config-error.ts'
import type { Shared } from './shared.ts'

type MailConfig = Pick<Config, 'mailUrl' | 'mailFolder' | 'mailFrom' | 'mailReplyTo' | 'providerName'>

/** Returns undefined if neither a server nor a folder is configured. Throws a ConfigError; opens no connection yet. */
export function configuredTransport(config: MailConfig, options?: SmtpOptions): MailTransport | undefined {
  const { mailUrl: url, mailFolder: folder } = config
  return fromSetting('mail_url', () => createMailTransport({ url, folder }, options))
}

/** Returns the sender of the mails. Only mails in a folder may have the default sender. */
export function letterheadOf({ mailFrom, mailReplyTo, providerName }: MailConfig): Letterhead {
  return {
    from: mailFrom === null ? { name: 'Pharos', address: 'pharos@localhost' } : parseMailbox(mailFrom),
    replyTo: mailReplyTo === null ? null : parseMailbox(mailReplyTo),
    provider: providerName,
  }
}

/** A mail that nobody was woken for, or whose time has come, is found after this long. */
const intervalMs = 30_000
/** How long a stop waits for mails that are being handed over; cut short, they go out again later. */
const graceMsDefault = 5_000

type MailDeps = Pick<Shared, 'config' | 'postgres' | 'waker' | 'log' | 'metrics'>

export function mailPart(deps: MailDeps, graceMs = graceMsDefault): Component {
  const { config, postgres, waker, log, metrics } = deps
  const transport = configuredTransport(config)
  if (!transport) return silentPart(log)
  const loop = createLoop({
    name: 'mails',
    intervalMs,
    run: (signal) =>
      sendMails(
        {
          db: postgres.owner,
          ring: config.secret,
          transport,
          letterhead: letterheadOf(config),
          onOutcome: (outcome) => report(outcome, transport.name, log, metrics),
        },
        signal,
      ),
    log,
    metrics,
  })
  let off = () => {}
  return {
    name: 'mails',
    start: () => {
      off = waker.on('mails', () => loop.wake())
      loop.start()
    },
    async stop() {
      off()
      const grace = setTimeout(() => void transport.close(), graceMs)
      await loop.stop()
      clearTimeout(grace)
      await transport.close()
    },
  }
}

/** Said once, by the process that would send them. */
function silentPart(log: Log): Component {
  return {
    name: 'mails',
    start: () =>
      log.warn(
        'no mail is sent: neither mail_url nor mail_folder is set; mails wait in the database until one is',
      ),
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
  if (outcome === 'failed') log.error(line, 'a mail was given up')
  else if (outcome === 'postponed') log.warn(line, 'a mail was not taken; it is tried again')
  else log.debug({ mail: id, template, through }, 'a mail was sent')
}
