// The SQL of addresses that no rule may name: sessions of the provider, without which rules, announcements and zones do not arrive.
import { sql } from 'kysely'
import type { Db } from '../db/postgres.ts'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'

/**
 * Returns the last observed neighbors of the routers, and the addresses of name servers. Skips texts that are not
 * addresses.
 */
export async function listSessionAddresses(db: Db): Promise<Prefix[]> {
  const { rows } = await sql<{ address: string }>`
    select distinct n.value ->> 'address' as address from region_routers r cross join jsonb_array_elements(r.neighbors) n
    where n.value ->> 'address' is not null
    union select s.address from dns_servers s where s.address is not null order by 1`.execute(db)
  return rows.flatMap(({ address }) => {
    try {
      return [parsePrefixOrAddress(address)]
    } catch (error) {
      if (error instanceof PrefixError) return []
      throw error
    }
  })
}
