// The stored files of the samples of closed bills: compressed, named by the SHA-256 of their content, and never changed.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { sql } from 'kysely'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { samplesFile, type Sample } from './samples.ts'

export type SampleFile = { readonly sha256: string; readonly gzip: Buffer }

const compress = promisify(gzip)
const expand = promisify(gunzip)

export async function sampleFileOf(samples: readonly Sample[]): Promise<SampleFile> {
  const text = samplesFile(samples)
  return {
    sha256: hash('sha256', text),
    gzip: await compress(text, { level: constants.Z_BEST_COMPRESSION }),
  }
}

export async function insertFile(
  trx: Trx,
  teamId: number,
  { sha256, gzip: bytes }: SampleFile,
): Promise<void> {
  await sql`
    insert into billing_samples (team_id, sha256, gzip) values (${teamId}, ${sha256}, ${bytes})
    on conflict (team_id, sha256) do nothing`.execute(trx)
}

/** Undefined if the month was closed by a version that did not keep the files. */
export async function readFile(
  postgres: Postgres,
  teamId: number,
  sha256: string,
): Promise<Buffer | undefined> {
  const query = sql<{ gzip: Buffer }>`
    select gzip from billing_samples where team_id = ${teamId} and sha256 = ${sha256}`
  const [row] = await postgres.readInTeam(teamId, query)
  return row && expand(row.gzip)
}
