// `pharos mail`: tries the mail settings. The one mail that no row stands for: whoever asks for it waits for the answer.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { fillTemplate } from '../mail/templates.ts'
import type { MailMessage } from '../mail/mail-transport.ts'
import { configuredTransport, letterheadOf } from '../roles/mail.ts'
import type { Config } from '../runtime/config.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { parseEmail } from '../text/email.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { oneWord } from './words.ts'

export const mail: Command = {
  name: 'mail',
  usage: 'test <address>',
  summary: `try the mail settings

  test  sends a mail to the address at once, as the server would, and prints what the other side says`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'test') return sendTest(context, args)
    throw new UsageError(verb === undefined ? 'Say test, and an address.' : `There is no mail ${verb}.`)
  },
}

async function sendTest(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const word = oneWord(positionals, 'the address that the mail goes to')
  const to = parseEmail(word)
  if (to === undefined) throw new UsageError(`${word} is no address that mail can be sent to.`)
  const config = context.config()
  const transport = configuredTransport(config, { quoteAnswers: true })
  if (!transport) throw new CommandFailure('Neither mail_url nor mail_folder is set: pharos config')
  try {
    const answer = await transport.send(testMail(config, to))
    context.out(`${transport.name} took the mail to ${to}:\n${answer}\n`)
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    throw new CommandFailure(`The mail was not taken (${meanings[error.kind]}).\n${error.message}`)
  } finally {
    await transport.close()
  }
}

const meanings: Record<DriverError['kind'], string> = {
  unreachable: 'the other side was not reached; a mail of the server would wait',
  protocol: 'the other side takes no mail from us; mails of the server would wait until that is mended',
  postponed: 'not now; a mail of the server would be tried again',
  refused: 'refused; a mail of the server would be given up',
}

function testMail(config: Config, to: string): MailMessage {
  const letterhead = letterheadOf(config)
  const { from, replyTo, provider } = letterhead
  const sender = { provider, contact: (replyTo ?? from).address }
  const date = new Date()
  const rendered = fillTemplate('test', { at: date.toISOString() }, sender)
  return { id: `test-${randomUUID()}`, date, from, replyTo, to, ...rendered }
}
