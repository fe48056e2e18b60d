// The suites of the speaker and of FlowSpec with a real GoBGP 4 between Pharos and BIRD. Debian has no package: it is
// taken from the PATH, at any position.
import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { it } from 'node:test'

const path = process.env['PATH'] ?? ''
const folder = path.split(delimiter).find((one) => isVersion4(join(one, 'gobgpd')))
const install =
  'go install github.com/osrg/gobgp/v4/cmd/gobgpd@v4.8.0 github.com/osrg/gobgp/v4/cmd/gobgp@v4.8.0'

if (folder === undefined) it(`GoBGP 4`, { skip: `gobgpd 4 is not installed: ${install}` })
else {
  process.env['PATH'] = `${folder}${delimiter}${path}`
  await import('./speaker.test.ts')
  await import('../flowspec/scrubber.test.ts')
}

function isVersion4(gobgpd: string): boolean {
  const { stdout } = spawnSync(gobgpd, ['--version'], { encoding: 'utf8' })
  return /version 4\./.test(stdout ?? '')
}
