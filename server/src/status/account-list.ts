// The mails and accounts of the installation for staff.
import type { listMailsRoute, Mail } from '@pharos/contract/operator/mail'
import type { StaffAccount, listUsersRoute } from '@pharos/contract/operator/user'
import type { QueryOf } from '@pharos/contract/route'
import type { Db } from '../db/postgres.ts'
import { listAccountRows, listMailRows, type AccountRow, type MailListRow } from './account-list.store.ts'

type Deps = { readonly db: Db }

export async function listMails(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listMailsRoute>,
): Promise<{ results: Mail[]; count: number }> {
  const { page, count } = await listMailRows(db, query)
  return { results: page.map(presentMail), count }
}

const presentMail = ({ created, due, ended, ...row }: MailListRow): Mail => ({
  ...row,
  created: created.toISOString(),
  due: due && due.toISOString(),
  ended: ended && ended.toISOString(),
})

export async function listUsers(
  { db }: Deps,
  _operation: unknown,
  query: QueryOf<typeof listUsersRoute>,
): Promise<{ results: StaffAccount[]; count: number }> {
  const { page, count } = await listAccountRows(db, query)
  return { results: page.map(presentAccount), count }
}

const presentAccount = ({
  created,
  email_confirmed,
  second_factor,
  last_active,
  ...row
}: AccountRow): StaffAccount => ({
  ...row,
  created: created.toISOString(),
  email_confirmed: email_confirmed && email_confirmed.toISOString(),
  second_factor: second_factor && second_factor.toISOString(),
  last_active: last_active && last_active.toISOString(),
  teams: [...row.teams],
})
