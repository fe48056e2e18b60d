// The templates of mails: pure functions from content to parts. They are written for recipients who did not expect the
// mail: the event, its time and origin, and the remedy if it was not them. Text from other users is defanged.
import { counted } from '@pharos/contract/counted'
import { describeRoles, rolesText } from '@pharos/contract/role'
import { isIP } from 'node:net'
import { defangLine, defangLines } from './defang.ts'
import type { MailContents, MailTemplate } from './mail.ts'
import { renderMail, type MailParts, type Paragraph, type RenderedMail, type Sender } from './render.ts'

type Templates = { readonly [T in MailTemplate]: (content: MailContents[T], sender: Sender) => MailParts }

const templates: Templates = {
  'confirm-email': ({ link, hours }) => ({
    subject: 'Confirm your e-mail address',
    paragraphs: ['This e-mail address was entered for an account. Confirm it to show that it is yours.'],
    link: { label: 'Confirm the address', url: link },
    after: [
      `The link works once and expires in ${counted(hours, 'hour')}.`,
      'If it was not you, ignore this mail: an address that is not confirmed is not used.',
    ],
  }),

  'email-changing': ({ to, at, address }, { contact }) => ({
    subject: 'Your e-mail address is being changed',
    paragraphs: [
      `A change of your account's e-mail address to ${word(to)} was requested ${when(at)}, from ${place(address)}.`,
      'It takes effect once the new address is confirmed. Until then, sign in with this one.',
    ],
    after: [notYou(`change your password at once, end all other sessions, and write to ${contact}`)],
  }),

  'password-reset': ({ link, minutes }) => ({
    subject: 'Reset your password',
    paragraphs: ['A new password was requested for your account.'],
    link: { label: 'Choose a new password', url: link },
    after: [
      `The link works once and expires in ${counted(minutes, 'minute')}.`,
      'If it was not you, ignore this mail: your password does not change. Never share the link; we never ask for it.',
    ],
  }),

  'password-changed': ({ at, address }, { contact }) => ({
    subject: 'Your password was changed',
    paragraphs: [
      `The password of your account was changed ${when(at)}, from ${place(address)}. All other sessions have ended.`,
    ],
    after: [notYou(`reset your password at once from the sign-in page, and write to ${contact}`)],
  }),

  invitation: ({ link, days, team, invitedBy, roles, message, provider: login }, { provider }) => ({
    subject: `You are invited to a team at ${provider}`,
    paragraphs: [
      `${word(invitedBy)} invites you to the team "${word(team)}"${roles ? ` as ${rolesText(roles)}` : ''}.`,
      ...(roles ? [describeRoles(roles)] : []),
      ...(login
        ? [`You accept it by signing in with your company: "${word(login)}". You need no password.`]
        : []),
      ...quoteOf(`${word(invitedBy)} writes:`, message),
    ],
    link: { label: 'View the invitation', url: link },
    after: [
      `The link expires in ${counted(days, 'day')}.`,
      'If you do not know the sender, ignore this mail: you join only if you accept.',
    ],
  }),

  'second-factor-changed': ({ change, at, address }, { contact }) => ({
    subject: secondFactor[change].subject,
    paragraphs: [
      `${secondFactor[change].sentence} ${when(at)}, from ${place(address)}.`,
      ...secondFactor[change].notes,
    ],
    after: [
      notYou(
        `change your password at once, check the second factor of your account, and write to ${contact}`,
      ),
    ],
  }),

  'identity-linked': ({ team, provider, at, address }, { contact }) => ({
    subject: 'An identity provider was linked to your account',
    paragraphs: [
      `The identity provider "${word(provider)}" of the team "${word(team)}" was linked to your account ${when(at)}, from ${place(address)}. ` +
        'From now on it signs you in to this team, and to no other team.',
    ],
    after: [
      notYou(`sign in with your own password, remove the identity in your profile, and write to ${contact}`),
    ],
  }),

  'team-sign-in': teamSignIn,

  'link-account': ({ link, hours, team, provider }) => ({
    subject: 'Link your account to an identity provider',
    paragraphs: [
      `Somebody signed in with the identity provider "${word(provider)}" of the team "${word(team)}", which names your address.`,
      'You have an account with this address. If it was you, link the account: the identity provider then signs you in to this team, and to no other team.',
    ],
    link: { label: 'Link the account', url: link },
    after: [
      `The link works once and expires in ${counted(hours, 'hour')}.`,
      'If it was not you, ignore this mail: your account does not change.',
    ],
  }),

  'account-deleted': ({ at, address }, { contact }) => ({
    subject: 'Your account was deleted',
    paragraphs: [
      `Your account was deleted ${when(at)}${address === null ? '' : `, from ${place(address)}`}: its sessions, API tokens, ` +
        'passkeys, settings and memberships. It cannot be restored. An admin of a team can invite you again.',
    ],
    after: [notYou(`write to ${contact}`)],
  }),

  'account-unused': ({ days }, { contact }) => ({
    subject: 'Your account will be deleted',
    paragraphs: [
      `Your account has been in no team for a long time. It will be deleted in ${counted(days, 'day')}.`,
      'To keep it, ask an admin of a team to invite you, and accept the invitation. Otherwise there is nothing to do.',
    ],
    after: [`Questions: ${contact}.`],
  }),

  'session-ended': ({ at, address }, { contact }) => ({
    subject: 'One of your sessions was ended',
    paragraphs: [
      `An old token of one of your sessions was used ${when(at)}, from ${place(address)}. That happens if a token ` +
        'was copied, so the session was ended for everyone who used it.',
      'Sign in again.',
    ],
    after: [
      'If you do not know that address, or this happens again: change your password, end all other sessions, and check ' +
        `the programs on your computer. Write to ${contact} if you need help.`,
    ],
  }),

  'domain-lost': ({ team, domain, reason }) => ({
    subject: 'A domain of your team is no longer verified',
    paragraphs: [
      `The domain ${word(domain)} of the team "${word(team)}" is no longer verified. The last checks found:`,
      { quote: defangLines(reason) },
      'New members cannot join the team by this domain until it is verified again. Current members stay.',
    ],
    after: ['Restore the TXT record that the list of domains shows. It is then found automatically.'],
  }),

  'webhook-disabled': ({ team, url, since, error }) => ({
    subject: 'A webhook of your team was disabled',
    paragraphs: [
      `A webhook of the team "${word(team)}" has failed since ${time(since)}, so it was disabled. Its URL:`,
      { quote: defangLines(url) },
      'The error of the last attempt:',
      { quote: defangLines(error) },
    ],
    after: ['Enable it again once its endpoint responds. Missed messages can be sent again.'],
  }),

  'approval-open': ({ isReminder, approvals, link }) => ({
    subject: `${isReminder ? 'Reminder: ' : ''}${subjectOfApprovals(approvals)}`,
    paragraphs: approvals.flatMap(({ id, area, subject, team, detail, at, itemCount, teams, items }) => [
      `Approval ${id} of ${areaWords[area]}, ${resource(subject)}${team === null ? '' : ` (team "${word(team)}")`}, open since ${time(at)}: ${detail}`,
      ...(teams.length > 0 ? ['Withdrawals by team:', { quote: teamLines(teams) }] : []),
      ...(items.length > 0
        ? [
            itemCount > items.length
              ? `The first ${items.length} of ${itemCount} changes:`
              : `${counted(itemCount, 'change')}:`,
            { quote: items.map((item) => itemLine(item, area === 'routes')) },
          ]
        : []),
    ]),
    link: { label: 'Open the inbox', url: link },
    after: [
      'Or decide on the server: pharos approvals list, pharos approvals show <id>, pharos approvals approve <id>, pharos approvals reject <id>.',
      'Nothing of it is applied until it is decided. A decision covers exactly these changes: approving applies them, rejecting keeps everything as it is.',
    ],
  }),

  'restore-open': ({ id, at, detail, link }) => ({
    subject: 'The database was restored: nothing is sent until you decide',
    paragraphs: [
      `Restore ${id} was opened at ${time(at)}. ${detail}`,
      'Routers, scrubbers and name servers keep what they have. Mails and webhooks wait, changes of customers are refused, and everybody has to sign in again.',
      'Compare the restored database with the network, decide each difference, and close the restore.',
    ],
    link: { label: 'Review the restore', url: link },
    after: [
      `Or decide on the server: pharos restore show ${id}, pharos restore apply, pharos restore adopt, pharos restore close.`,
    ],
  }),

  'zones-refused': ({ zones }) => ({
    subject: `${counted(zones.length, 'zone is', 'zones are')} refused by a name server`,
    paragraphs: [
      'Other name servers serve the newest version. These keep an old one, or none:',
      {
        quote: zones.map(
          ({ name, servers, serial, sets }) =>
            `${resource(name)} at ${servers.map(resource).join(', ')}: ${serial === null ? 'no version' : `serial ${serial}`}${sets.length > 0 ? `; the next change has ${sets.map(resource).join(', ')}` : ''}`,
        ),
      },
    ],
    after: [
      'The log of the name server has the reason. A record that it cannot load stops all changes of the zone there: remove the record, or update the name server.',
    ],
  }),

  notifications: ({ team, subject, lines, count: total, link, settings, unsubscribe }) => ({
    subject,
    paragraphs: [
      ...(team === null ? [] : [`Team "${word(team)}":`]),
      { quote: lines },
      ...(total > lines.length ? [`and ${total - lines.length} more.`] : []),
    ],
    link: { label: 'Open the portal', url: link },
    after: [`Choose what is mailed, and when: ${settings}`],
    unsubscribe,
  }),

  'monthly-report': ({ team, monthText, rows, link, settings, unsubscribe }) => ({
    subject: `Monthly report: ${monthText}`,
    paragraphs: [
      `The report of ${monthText} for the team "${word(team)}" is attached as PDF. In short:`,
      { rows },
    ],
    link: { label: 'Open the report', url: link },
    after: [`Choose whether it is mailed: ${settings}`],
    unsubscribe,
  }),

  test: ({ at }, { provider }) => ({
    subject: 'Test of the mail settings',
    paragraphs: [`This mail was sent ${when(at)} to test the mail settings of ${provider}. They work.`],
  }),
}

const secondFactor = {
  on: {
    subject: 'The second factor was enabled',
    sentence: 'The second factor of your account was enabled',
    notes: [],
  },
  off: {
    subject: 'The second factor was disabled',
    sentence: 'The second factor of your account was disabled',
    notes: ['The password alone is now enough to sign in.'],
  },
  'authenticator removed': {
    subject: 'The authenticator was removed',
    sentence: 'The authenticator of your account was removed',
    notes: ['Your passkeys and recovery codes still are the second factor beside the password.'],
  },
  'passkey added': {
    subject: 'A passkey was added',
    sentence: 'A passkey was added to your account',
    notes: ['It signs in without the password, and is a second factor beside it.'],
  },
  'passkey removed': {
    subject: 'A passkey was removed',
    sentence: 'A passkey of your account was removed',
    notes: [],
  },
  'recovery codes': {
    subject: 'Your recovery codes were replaced',
    sentence: 'The recovery codes of your account were replaced',
    notes: [],
  },
} as const

export const templateNames = Object.keys(templates) as readonly MailTemplate[]

export function isTemplate(name: string): name is MailTemplate {
  return Object.hasOwn(templates, name)
}

/** Throws if the link is not a web address. */
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

/** The lifetime of a template's link, in seconds. */
const lifetimes: { readonly [T in MailTemplate]?: (content: MailContents[T]) => number } = {
  'confirm-email': ({ hours }) => hours * 3_600,
  'password-reset': ({ minutes }) => minutes * 60,
  invitation: ({ days }) => days * 86_400,
  'link-account': ({ hours }) => hours * 3_600,
}

/** Returns the seconds after which the mail is of no use; infinite for one without a link that expires. */
export function lifetimeSeconds<T extends MailTemplate>(template: T, content: MailContents[T]): number {
  const lifetime = lifetimes[template] as ((content: MailContents[T]) => number) | undefined
  return lifetime?.(content) ?? Infinity
}

const word = (text: string): string => defangLine(text) || 'unknown'

/** A name that a customer chose. A prefix is not defanged: no program turns one into a link. */
function resource(name: string): string {
  const [address = '', length = ''] = name.split('/')
  return isIP(address) !== 0 && name === `${address}/${Number(length)}` ? name : word(name)
}

const teamWord = (team: string | null): string => (team === null ? 'no team' : word(team))

const teamsShown = 20

function teamLines(teams: Opened['teams']): string[] {
  const lines = teams.slice(0, teamsShown).map(({ team, count }) => `${teamWord(team)}: ${count}`)
  const more = teams.length - lines.length
  return more > 0 ? [...lines, `and ${counted(more, 'more team')}`] : lines
}

const verbs = { withdraw: 'withdraw', replace: 'change', remove: 'remove', apply: 'apply' } as const

/** Prefixes are not defanged: they come from the database, and no program turns one into a link. */
function itemLine(item: Opened['items'][number], isRoute: boolean): string {
  const { change, value, router, team, requestedBy, requestedAt } = item
  const at = router === null ? '' : ` on ${word(router)}`
  const line = `${verbs[change]} ${resource(value)}${at}`
  if (!isRoute) return line
  const who =
    requestedBy === null || requestedAt === null
      ? 'no request found'
      : `last changed by ${word(requestedBy)} ${when(requestedAt)}`
  return `${line}, ${teamWord(team)}, ${who}`
}

type Opened = MailContents['approval-open']['approvals'][number]

const areaWords = { routes: 'routes', dns: 'DNS', shield: 'shield rules', platform: 'inventory' } as const

/** Names no zone: a customer has chosen it. */
function subjectOfApprovals(approvals: readonly Opened[]): string {
  const areas = new Set(approvals.map(({ area }) => areaWords[area]))
  return `Changes of ${[...areas].join(', ')} need approval`
}

/** The origin of a request. An IP address is not defanged, anything else is. */
const place = (address: string): string => (isIP(address) === 0 ? word(address) : address)

const time = (at: string): string => {
  const parsed = new Date(at)
  return Number.isNaN(parsed.getTime())
    ? word(at)
    : `${parsed.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

const when = (at: string): string => `on ${time(at)}`

function teamSignIn(content: MailContents['team-sign-in'], { contact }: Sender): MailParts {
  if (content.change === 'break glass used')
    return {
      subject: 'Staff signed in without their identity provider',
      paragraphs: [
        `${word(content.by)} signed in ${when(content.at)}, from ${place(content.address)}, with an account that has the rights of staff without the identity provider of staff.`,
      ],
      after: [notYou(`end the sessions of the account with pharos user sign-out, and write to ${contact}`)],
    }
  const team = word(content.team)
  switch (content.change) {
    case 'recovery code used': {
      const { by, at, address } = content
      return {
        subject: 'A recovery code of your team was used',
        paragraphs: [
          `${word(by)} opened the team "${team}" with a recovery code ${when(at)}, from ${place(address)}. For one hour this session does not need the identity provider of the team.`,
          'Create new recovery codes in Team > Sign-in once the identity provider answers again.',
        ],
        after: [
          notYou(`remove this admin from the team, create new recovery codes, and write to ${contact}`),
        ],
      }
    }
    case 'last admin removed':
      return {
        subject: 'A team has no admin',
        paragraphs: [
          `The identity provider of the team "${team}" took the role Admin from the last admin of the team by SCIM ${when(content.at)}. Until its groups name another admin, no member can change its members, tokens and settings.`,
        ],
        after: [
          'The identity provider may give the role to somebody at any time. Otherwise invite an admin in Customers.',
        ],
      }
    case 'opened by the operator':
      return {
        subject: 'Your team no longer requires its identity provider',
        paragraphs: [
          `Your provider set the sign-in policy of the team "${team}" to optional ${when(content.at)}: members sign in with their passwords and passkeys again.`,
        ],
        after: [`If no admin of the team asked for it, write to ${contact}.`],
      }
    case 'certificates changed': {
      const { provider, fingerprints, at, address } = content
      return {
        subject: 'The certificates of the identity provider of your team were changed',
        paragraphs: [
          `The certificates of the identity provider "${word(provider)}" of the team "${team}" were changed ${when(at)}, from ${place(address)}. Whoever has the key of one of them can sign in as any member.`,
          `Certificates from now on, by their SHA-256 fingerprints: ${fingerprints.join(', ')}.`,
          'Team > Audit log names who changed them.',
        ],
        after: [
          `If no admin of the team did this: disable the identity provider in Team > Sign-in, and write to ${contact}.`,
        ],
      }
    }
    case 'provider unreachable':
      return {
        subject: 'The identity provider of your team does not answer',
        paragraphs: [
          `The identity provider "${word(content.provider)}" of the team "${team}" has not answered sign-ins for at least five minutes. Team > Sign-in shows whether it answers again.`,
          'If the team requires it, admins with a second factor open the team with a recovery code.',
        ],
        after: ['You get this mail once until it answers again.'],
      }
  }
}

const notYou = (what: string): string => `If it was not you: ${what}.`

function quoteOf(intro: string, message: string): readonly Paragraph[] {
  const quote = defangLines(message)
  return quote.length === 0 ? [] : [intro, { quote }]
}
