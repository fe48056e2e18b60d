// Installs the peers from the list of Debian packages in scripts/. Benchmarks whose peer cannot be installed are skipped and report
// that.
import { findProgram, packageOf, type ProgramName } from '../../lab/src/program.ts'
import { findPgbench } from './pgbench.ts'

type DebianPackages = {
  readonly benchPackages: readonly string[]
  missingPackages(names: readonly string[]): readonly string[] | undefined
  installPackages(names: readonly string[]): boolean
}

/** Installs missing packages if permitted: as root, on Debian. */
export async function installPeers(): Promise<void> {
  const { pgbench, routers } = missingPeers()
  const isComplete = !pgbench && !routers && !missingPrograms(...nameServers)
  if (isComplete || process.getuid?.() !== 0) return
  const url = new URL('../../scripts/debian-packages.mjs', import.meta.url)
  const { benchPackages, missingPackages, installPackages } = (await import(url.href)) as DebianPackages
  const names = missingPackages(benchPackages)
  if (names !== undefined && names.length > 0) installPackages(names)
}

/** Returns why a benchmark that needs pgbench, or routers, cannot be measured. */
export function missingPeers(): { pgbench: string | undefined; routers: string | undefined } {
  return {
    pgbench: findPgbench() ? undefined : 'pgbench is not installed (Debian: postgresql)',
    routers: missingPrograms('gobgpd', 'gobgp', 'bird', 'birdc'),
  }
}

const nameServers = ['pdns_server', 'nsd', 'named', 'knotd', 'ldns-signzone', 'dnsperf'] as const

/** Returns why a benchmark that needs these programs cannot be measured. */
export function missingPrograms(...names: readonly ProgramName[]): string | undefined {
  const missing = names.filter((name) => !findProgram(name))
  const packages = [...new Set(missing.map(packageOf))].join(' ')
  return missing.length > 0 ? `${missing.join(', ')} not installed (Debian: ${packages})` : undefined
}
