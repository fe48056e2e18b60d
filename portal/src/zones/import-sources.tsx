// Where an import comes from: a zone file that is dropped, chosen or pasted, or another name server by zone transfer.
import { Autocomplete, FileInput, NumberInput, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { listTsigKeysRoute } from '@pharos/contract/dns/tsig'
import { IconFileImport } from '@tabler/icons-react'
import { useAnswer } from '../api/queries.ts'
import { DropZone } from '../ui/drop-zone.tsx'
import { words } from './words.ts'
import classes from './zones.module.css'

const { import: texts } = words
/** A longer text makes the page slow; it is kept beside the field. */
const shownBytesMax = 200_000

type FileProps = {
  readonly file: File | null
  readonly content: string
  readonly mistake: string | undefined
  readonly onFile: (file: File | null) => void
  readonly onContent: (content: string) => void
}

export function FileSource({ file, content, mistake, onFile, onContent }: FileProps) {
  const isLong = content.length > shownBytesMax
  return (
    <DropZone onDrop={onFile}>
      <Stack gap="sm">
        <FileInput
          maw={400}
          label={texts.file}
          description={texts.fileHelp}
          placeholder={texts.choose}
          leftSection={<IconFileImport size={14} />}
          clearable
          clearButtonProps={{ 'aria-label': texts.removeFile }}
          value={file}
          error={mistake}
          onChange={onFile}
        />
        {isLong ? (
          <Text size="sm" c="dimmed">
            {texts.long(content.split('\n').length)}
          </Text>
        ) : (
          <Textarea
            aria-label={texts.text}
            placeholder={texts.textPlaceholder}
            classNames={{ input: classes['mono']! }}
            autosize
            minRows={5}
            maxRows={16}
            value={content}
            data-verbatim
            onChange={(event) => onContent(event.currentTarget.value)}
          />
        )}
      </Stack>
    </DropZone>
  )
}

export type TransferSource = {
  readonly address: string
  readonly port: string | number
  /** Name of a TSIG key, or empty. */
  readonly key: string
}

type ServerProps = {
  readonly value: TransferSource
  readonly mistakes: Readonly<Record<string, string>>
  readonly onChange: (value: TransferSource) => void
}

export function ServerSource({ value, mistakes, onChange }: ServerProps) {
  const keys = useAnswer(listTsigKeysRoute, { query: { limit: 1000 } })
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {texts.serverText}
      </Text>
      <TextInput
        label={texts.server}
        description={texts.serverHelp}
        placeholder="192.0.2.53"
        maw={400}
        required
        withAsterisk={false}
        autoComplete="off"
        value={value.address}
        error={mistakes['server']}
        data-verbatim
        onChange={(event) => onChange({ ...value, address: event.currentTarget.value })}
      />
      <NumberInput
        label={texts.port}
        placeholder="53"
        maw={140}
        min={1}
        max={65_535}
        allowDecimal={false}
        hideControls
        value={value.port}
        error={mistakes['port']}
        onChange={(port) => onChange({ ...value, port })}
      />
      <Autocomplete
        label={texts.key}
        description={texts.keyHelp}
        maw={400}
        data={keys.data?.results.map(({ name }) => name) ?? []}
        value={value.key}
        error={mistakes['tsig']}
        data-verbatim
        onChange={(key) => onChange({ ...value, key })}
      />
    </Stack>
  )
}
