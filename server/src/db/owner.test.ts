// The owner of the database on a server that another party administers: it must need no more privileges than documented.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { migrate } from './migrate.ts'
import { createTestDatabase } from './testing.ts'

const database = await createTestDatabase()
const admin = await database.postgres.directConnection()
after(async () => {
  await admin.end()
  await database[Symbol.asyncDispose]()
})

const { rows } = await admin.query<{ is_superuser: boolean }>(
  'select rolsuper as is_superuser from pg_roles where rolname = current_user',
)
const skip = rows[0]!.is_superuser ? false : 'needs a superuser, to create other users'

test(
  'an owner without any privileges on roles migrates and works as a team, once it is a member of pharos_tenant',
  { skip },
  async () => {
    const name = `owner_${process.pid}`
    await admin.query(`create role ${name} login`)
    await admin.query(`grant pharos_tenant to ${name}`)
    await admin.query(`create database ${name} owner ${name}`)
    const url = new URL(database.databaseUrl)
    url.pathname = `/${name}`
    const client = new Client({ connectionString: url.href })
    try {
      await client.connect()
      await client.query(`set session authorization ${name}`)
      assert.ok((await migrate(client)).applied.length > 0)
      await client.query(`begin; set local role pharos_tenant; select from announcements; commit`)
    } finally {
      await client.end()
      await admin.query(`drop database ${name} with (force)`)
      await admin.query(`drop role ${name}`)
    }
  },
)
