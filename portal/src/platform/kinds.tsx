// The kinds of elements of the platform, in groups: where staff create and edit them.
import { Skeleton, Text } from '@mantine/core'
import { listPlatformKindsRoute } from '@pharos/contract/operator/platform'
import { useAnswer } from '../api/queries.ts'
import { TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import classes from './platform.module.css'
import { kindGroups, kindText, words } from './words.ts'

export function PlatformKinds() {
  const { data, error, refetch } = useAnswer(listPlatformKindsRoute, {})
  return (
    <Page title={words.title} note={words.note}>
      {error && !data && <Problem error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={200} />}
      {data &&
        groupsOf(data.kinds.map(({ section }) => section)).map(([title, sections]) => (
          <Section key={title} title={title}>
            <ul className={classes['kinds']}>
              {sections.map((section) => (
                <li key={section} className={classes['kind']}>
                  <TextLink to="/staff/platform/$section" params={{ section }} fw={500}>
                    {kindText(section).title}
                  </TextLink>
                  <Text size="sm" c="dimmed">
                    {kindText(section).about}
                  </Text>
                </li>
              ))}
            </ul>
          </Section>
        ))}
    </Page>
  )
}

/** A kind of a newer server without a group comes last. */
function groupsOf(sections: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  const known = Object.entries(kindGroups).map(
    ([title, group]) => [title, Object.keys(group).filter((section) => sections.includes(section))] as const,
  )
  const left = sections.filter((section) => !known.some(([, named]) => named.includes(section)))
  return left.length > 0 ? [...known, [words.kinds, left]] : known
}
