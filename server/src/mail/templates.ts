// What each mail says: one pure function from what it is filled with to its parts. They are written for people who did not
// expect the mail: what happened, when, from where, and what to do if it was not them. Words of others come in defanged.
import { isIP } from 'node:net'
import { defangLine, defangLines } from './defang.ts'
import type { MailContents, MailTemplate } from './mail.ts'
import { renderMail, type MailParts, type Paragraph, type RenderedMail, type Sender } from './render.ts'

type Templates = { readonly [T in MailTemplate]: (content: MailContents[T], sender: Sender) => MailParts }

const templates: Templates = {
  'confirm-email': ({ link, hours }) => ({
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'Somebody, probably you, gave this e-mail address for an account. Please confirm that you read it.',
    ],
    link: { label: 'Confirm the address', url: link },
    after: [
      `The link works for ${count(hours, 'hour')}, and once.`,
      'If it was not you, do nothing: without the confirmation the address is not used.',
    ],
  }),

  'email-changing': ({ to, at, address }, { contact }) => ({
    subject: 'Your e-mail address is being changed',
    paragraphs: [
      `The e-mail address of your account is to become ${word(to)}. It was asked for ${when(at)}, from ${place(address)}.`,
      'It changes once the new address is confirmed. Until then you go on signing in with this one.',
    ],
    after: [notYou(`change your password at once, end all other sessions, and write to ${contact}`)],
  }),

  'password-reset': ({ link, minutes }) => ({
    subject: 'Reset your password',
    paragraphs: ['Somebody, probably you, asked for a new password of your account.'],
    link: { label: 'Choose a new password', url: link },
    after: [
      `The link works for ${count(minutes, 'minute')}, and once.`,
      'If it was not you, do nothing: your password stays as it is. Never hand the link on; nobody of us asks for it.',
    ],
  }),

  'password-changed': ({ at, address }, { contact }) => ({
    subject: 'Your password was changed',
    paragraphs: [
      `The password of your account was changed ${when(at)}, from ${place(address)}. All other sessions were ended.`,
    ],
    after: [notYou(`reset your password at once from the sign-in page, and write to ${contact}`)],
  }),

  invitation: ({ link, days, team, invitedBy, message }, { provider }) => ({
    subject: `You are invited to a team at ${provider}`,
    paragraphs: [
      `${word(invitedBy)} invites you to the team "${word(team)}".`,
      ...said(`${word(invitedBy)} writes:`, message),
    ],
    link: { label: 'Look at the invitation', url: link },
    after: [
      `The link works for ${count(days, 'day')}.`,
      'If you do not know who invites you, do nothing: without you nothing happens.',
    ],
  }),

  'second-factor-changed': ({ change, at, address }, { contact }) => ({
    subject: secondFactor[change].subject,
    paragraphs: [`${secondFactor[change].sentence} ${when(at)}, from ${place(address)}.`],
    after: [
      notYou(
        `change your password at once, look at the second factor of your account, and write to ${contact}`,
      ),
    ],
  }),

  'session-ended': ({ at, address }, { contact }) => ({
    subject: 'A session of yours was ended',
    paragraphs: [
      `An old token of one of your sessions was presented ${when(at)}, from ${place(address)}. That happens when a token ` +
        'was copied, so the session was ended, and whoever used it is signed out.',
      'Please sign in again.',
    ],
    after: [
      'If you do not know that address, or this happens again: change your password, end all other sessions, and look ' +
        `through the programs on your computer. Write to ${contact} if you need help.`,
    ],
  }),

  'domain-lost': ({ team, domain, reason }) => ({
    subject: 'A domain of your team is no longer verified',
    paragraphs: [
      `The domain ${word(domain)} of the team "${word(team)}" is no longer verified. The last checks found:`,
      { quote: defangLines(reason) },
      'Nobody joins the team by this domain until it is verified again. Members stay.',
    ],
    after: ['Put the TXT record back that the list of domains shows; it is looked for by itself.'],
  }),

  'webhook-disabled': ({ team, url, since, error }) => ({
    subject: 'A webhook of your team was turned off',
    paragraphs: [
      `A webhook of the team "${word(team)}" has taken nothing since ${time(since)}, so it was turned off. It went to:`,
      { quote: defangLines(url) },
      'The last attempt met:',
      { quote: defangLines(error) },
    ],
    after: ['Turn it on again once its address answers. What it missed can be delivered again.'],
  }),

  'hold-open': ({ id, region, isReminder, at, detail, withdrawals, changes, teams, items, link }) => ({
    subject: isReminder
      ? `Reminder: changes in region ${word(region)} need approval`
      : `Changes in region ${word(region)} need approval`,
    paragraphs: [
      `Hold ${id} of region ${word(region)} is open since ${time(at)}. Nothing that it lists is applied until it is decided.`,
      `Reason: ${detail}`,
      `It would withdraw ${count(withdrawals, 'prefix', 'prefixes')} and change the origin or next hop of ${count(changes, 'route')}.`,
      ...(teams.length > 0 ? ['Withdrawals by team:', { quote: teamLines(teams) }] : []),
      ...(items.length > 0
        ? [
            withdrawals > items.length ? `The first ${items.length} withdrawals:` : 'Withdrawals:',
            { quote: items.map(heldLine) },
          ]
        : []),
    ],
    link: { label: 'Review the hold', url: link },
    after: [
      `Or decide on the server: pharos holds show ${id}, pharos holds approve ${id}, pharos holds reject ${id}.`,
      'Approving withdraws the listed prefixes. Rejecting keeps them announced for a day.',
    ],
  }),

  test: ({ at }, { provider }) => ({
    subject: 'Mail works',
    paragraphs: [`The mail settings of ${provider} were tried ${when(at)}. This is the mail: it arrived.`],
  }),
}

const secondFactor = {
  on: {
    subject: 'The second factor was turned on',
    sentence: 'The second factor of your account was turned on',
  },
  off: {
    subject: 'The second factor was turned off',
    sentence: 'The second factor of your account was turned off, so that the password alone signs in,',
  },
  'recovery codes': {
    subject: 'Your recovery codes were replaced',
    sentence: 'The recovery codes of your account were replaced',
  },
} as const

export function isTemplate(name: string): name is MailTemplate {
  return Object.hasOwn(templates, name)
}

/** Throws where the link is none that may stand in a mail. */
export function fillTemplate<T extends MailTemplate>(
  template: T,
  content: MailContents[T],
  sender: Sender,
): RenderedMail {
  const parts = templates[template](content, sender)
  if (parts.link && !isWebAddress(parts.link.url)) throw new TypeError(`the link of ${template} is none`)
  return renderMail(parts, sender)
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:\/\/[!-~]+$/.test(url)
}

/** How long the link of a template is good for. */
const lasting: { readonly [T in MailTemplate]?: (content: MailContents[T]) => number } = {
  'confirm-email': ({ hours }) => hours * 3_600,
  'password-reset': ({ minutes }) => minutes * 60,
  invitation: ({ days }) => days * 86_400,
}

/** After how many seconds nobody can use the mail any more; endless for one that only tells. */
export function lastsSeconds<T extends MailTemplate>(template: T, content: MailContents[T]): number {
  const lasts = lasting[template] as ((content: MailContents[T]) => number) | undefined
  return lasts?.(content) ?? Infinity
}

const word = (text: string): string => defangLine(text) || 'somebody'

const count = (number: number, unit: string, units = `${unit}s`): string =>
  `${number} ${number === 1 ? unit : units}`

const teamWord = (team: string | null): string => (team === null ? 'no team' : word(team))

const teamsShown = 20

function teamLines(teams: MailContents['hold-open']['teams']): string[] {
  const lines = teams.slice(0, teamsShown).map(({ team, count }) => `${teamWord(team)}: ${count}`)
  const more = teams.length - lines.length
  return more > 0 ? [...lines, `and ${count(more, 'more team')}`] : lines
}

/** Prefixes stand as they are: they are of the database, and no program makes a link of one. */
function heldLine({
  cidr,
  team,
  requestedBy,
  requestedAt,
}: MailContents['hold-open']['items'][number]): string {
  const who =
    requestedBy === null || requestedAt === null
      ? 'no request found'
      : `last changed by ${word(requestedBy)} ${when(requestedAt)}`
  return `${cidr}, ${teamWord(team)}, ${who}`
}

/** Where a request came from. An address of the internet may stand there as it is, anything else not. */
const place = (address: string): string => (isIP(address) === 0 ? word(address) : address)

const time = (at: string): string => {
  const parsed = new Date(at)
  return Number.isNaN(parsed.getTime())
    ? word(at)
    : `${parsed.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

const when = (at: string): string => `on ${time(at)}`

const notYou = (what: string): string => `If it was not you: ${what}.`

function said(who: string, message: string): readonly Paragraph[] {
  const quote = defangLines(message)
  return quote.length === 0 ? [] : [who, { quote }]
}
