// New recovery codes: to copy, or to keep as a file. They cannot be read again.
import { Alert, Button, Group, Stack } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { CopyBlock } from '../ui/copy.tsx'
import { download } from '../ui/export-file.ts'
import { words } from './words.ts'

const { factor: t } = words

type RecoveryCodesProps = {
  readonly codes: readonly string[]
  /** What to do with them. */
  readonly note: string
  /** What they are for, in the file. */
  readonly fileText: string
}

export function RecoveryCodes({ codes, note, fileText }: RecoveryCodesProps) {
  // The file contains host and date, so that it can be identified later.
  const head = t.fileHead(location.host, new Date().toISOString().slice(0, 10))
  const file = [head, fileText, '', ...codes, ''].join('\n')
  return (
    <Stack>
      <Alert color="warn">{note}</Alert>
      <CopyBlock text={codes.join('\n')} label={t.copyAll} />
      <Group>
        <Button
          variant="default"
          leftSection={<IconDownload size={14} />}
          onClick={() => download('recovery-codes.txt', new Blob([file], { type: 'text/plain' }))}
        >
          {t.download}
        </Button>
      </Group>
    </Stack>
  )
}
