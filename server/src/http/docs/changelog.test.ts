import assert from 'node:assert/strict'
import { it } from 'node:test'
import { changelogOf } from './changelog.ts'

it('shows every release, without what the file says before them and without sections for operators', () => {
  const text = [
    '# Changelog\n\nFor maintainers.\n',
    '## 0.3.0\n\nSmall.\n\n### Operators\n\n- **Action** `pharos migrate`\n\n### Portal\n\n- **New** Dark mode.\n',
    '## 0.2.0\n\n### Clients of the API\n\n- **Fixed** A.\n\n### Operators\n\n- **New** B.\n',
  ].join('\n')
  const page = changelogOf(text)
  assert.match(page, /^# Changelog\n/)
  assert.deepEqual(page.match(/^#{2,3} .*$/gm), [
    '## 0.3.0',
    '### Portal',
    '## 0.2.0',
    '### Clients of the API',
  ])
  assert.match(page, /Small\.\n[^]*Dark mode[^]*\*\*Fixed\*\* A\./)
  assert.doesNotMatch(page, /maintainers|migrate|\*\*New\*\* B/)
})
