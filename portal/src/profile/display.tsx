// How the portal shows things in this browser: the zone of its times, and its colours.
import {
  Group,
  Input,
  SegmentedControl,
  Select,
  Stack,
  Text,
  useMantineColorScheme,
  type MantineColorScheme,
} from '@mantine/core'
import { useMemo } from 'react'
import { browserZone, formatTime, isZone, useHomeZone, useZone, type Zone } from '../ui/time.tsx'
import { Section } from './section.tsx'

/** Stands for "whatever this browser's is". */
const ofBrowser = 'browser'
/** Options that are drawn at once: the others are found by typing. */
const shownZones = 60

export function Display() {
  return (
    <Section title="Display">
      <Stack gap="sm">
        <ZoneChoice />
        <SchemeChoice />
        <Text size="xs" c="dimmed">
          Both are kept in this browser.
        </Text>
      </Stack>
    </Section>
  )
}

function ZoneChoice() {
  const [home, setHome] = useHomeZone()
  const [zone, setZone] = useZone()
  const zones = useMemo(
    () => [
      { value: ofBrowser, label: `As this browser: ${browserZone()}` },
      ...[...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((name) => ({
        value: name,
        label: name.replaceAll('_', ' '),
      })),
    ],
    [],
  )
  const now = new Date().toISOString()
  return (
    <>
      <Select
        label="Time zone"
        description="type a city or a region"
        searchable
        limit={shownZones}
        nothingFoundMessage="No such zone"
        allowDeselect={false}
        data={zones}
        value={home !== '' && isZone(home) ? home : ofBrowser}
        onChange={(name) => setHome(name === null || name === ofBrowser ? '' : name)}
      />
      <Input.Wrapper label="Times are shown in" description="the same switch stands at the top of each page">
        <Group gap="xs" mt={4}>
          <SegmentedControl
            size="xs"
            aria-label="Times are shown in"
            value={zone}
            onChange={(value) => setZone(value as Zone)}
            data={[
              { value: 'local', label: 'This zone' },
              { value: 'utc', label: 'UTC' },
            ]}
          />
          <Text size="xs" c="dimmed">
            now {formatTime(now, zone)}
          </Text>
        </Group>
      </Input.Wrapper>
    </>
  )
}

function SchemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Input.Wrapper label="Theme">
      <Group mt={4}>
        <SegmentedControl
          size="xs"
          aria-label="Theme"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
          data={[
            { value: 'auto', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
      </Group>
    </Input.Wrapper>
  )
}
