// The mails of the installation for staff: what became of each, never what it says.
import { Type, type Static } from 'typebox'
import { route, staffReading } from '../route.ts'
import {
  Component,
  Enumeration,
  Id,
  Limit,
  Nullable,
  NullableTime,
  Offset,
  Optional,
  Ordering,
  Page,
  Repeatable,
  Strict,
  TeamReference,
  Time,
} from '../scalar.ts'

export const mailStates = ['queued', 'sent', 'failed'] as const
export type MailState = (typeof mailStates)[number]

const State = Enumeration('MailState', mailStates)

export const Mail = Component('Mail', {
  id: { ...Id, description: 'id of the mail' },
  recipient: Type.String({ description: 'address to which it is sent' }),
  kind: Type.String({ description: 'what it is about, such as `invitation` or `password-reset`' }),
  team: Nullable({ ...TeamReference, description: 'the team that it is about; null: an account' }),
  state: { ...State, description: '`queued`: it is tried until it is sent; `failed`: it is not tried again' },
  attempts: Type.Integer({ minimum: 0, description: 'attempts to send it' }),
  created: { ...Time, description: 'when it was queued' },
  due: { ...NullableTime, description: 'when it is tried next; null if it is not' },
  ended: { ...NullableTime, description: 'when it was sent or given up; null while it is queued' },
  error: Nullable(Type.String({ description: 'answer to the last attempt, if that failed' })),
})
export type Mail = Static<typeof Mail>

export const listMailsRoute = route({
  name: 'listMails',
  group: 'Operator',
  method: 'GET',
  path: '/v3/admin/mails',
  summary: 'List mails',
  description:
    'The mails that were queued, with what became of each. Their texts and links are not part of any answer.',
  permission: staffReading('operator.see'),
  query: Strict({
    state: Optional(Repeatable({ ...State, description: 'what became of it' })),
    kind: Optional(
      Repeatable(Type.String({ minLength: 1, maxLength: 100, description: 'what it is about' })),
    ),
    team_id: Optional(Repeatable({ ...Id, description: 'id of the team' })),
    search: Optional(
      Type.String({
        minLength: 1,
        maxLength: 254,
        description: 'contained in the address of the recipient; case-insensitive',
      }),
    ),
    ordering: Ordering(['id', 'created', 'attempts'], '-id'),
    limit: Limit,
    offset: Offset,
  }),
  response: Page(Mail),
  success: 200,
})

export const adminMailRoutes = [listMailsRoute]
