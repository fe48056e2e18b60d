// `pharos mail`: tests the mail settings. The only mail without a row in the database: the command waits for its result.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { fillTemplate } from '../mail/templates.ts'
import type { MailMessage } from '../mail/mail-transport.ts'
import { configuredTransport, letterheadOf } from '../mail/parts.ts'
import type { Config } from '../runtime/config.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { parseEmail } from '../text/email.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { parseOneArgument } from './parse-arguments.ts'

export const mail: Command = {
  name: 'mail',
  usage: 'test <address>',
  summary: `test the mail settings

  test  sends a mail to the address at once, as the server would, and prints the answer`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'test') return sendTest(context, args)
    throw new UsageError(
      verb === undefined ? 'Add test and an address.' : `pharos mail has no command ${verb}.`,
    )
  },
}

async function sendTest(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const word = parseOneArgument(positionals, 'the recipient of the mail')
  const to = parseEmail(word)
  if (to === undefined) throw new UsageError(`${word} is not an address to which mail can be sent.`)
  const config = context.config()
  const transport = configuredTransport(config, { quoteAnswers: true })
  if (!transport) throw new CommandFailure('Neither mail_url nor mail_folder is set: pharos config')
  try {
    const answer = await transport.send(testMail(config, to))
    context.out(`${transport.name} accepted the mail to ${to}:\n${answer}\n`)
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    throw new CommandFailure(`The mail was not accepted (${meanings[error.kind]}).\n${error.message}`)
  } finally {
    await transport.close()
  }
}

const meanings: Record<DriverError['kind'], string> = {
  unreachable: 'the mail server was not reached; mails of Pharos would wait',
  protocol: 'the mail server does not accept mails from Pharos; they would wait until that is fixed',
  postponed: 'not accepted now; Pharos would try its mails again',
  refused: 'refused; Pharos would not try its mails again',
}

function testMail(config: Config, to: string): MailMessage {
  const letterhead = letterheadOf(config)
  const { from, replyTo, provider } = letterhead
  const sender = { provider, contact: (replyTo ?? from).address }
  const date = new Date()
  const rendered = fillTemplate('test', { at: date.toISOString() }, sender)
  return { id: `test-${randomUUID()}`, date, from, replyTo, to, ...rendered }
}
