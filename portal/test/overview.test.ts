// The panels of the overview and the views of lists, stored by an example server: the changes of a person, the default of
// the team, and the notes of panels without their content.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import type { SavedView, ViewPanel } from '@pharos/contract/team/view'
import type { Page } from 'playwright-core'
import { settled, skipWithoutBrowser, until } from './browser.ts'
import { admin } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { keepViews, view } from './kept-views.ts'
import { assertFitsPhone, mistakesOfLook } from './page-checks.ts'

const panel = (kind: string, rest: Partial<ViewPanel> = {}): ViewPanel => ({
  kind,
  width: 'half',
  height: 'normal',
  title: '',
  search: '',
  ...rest,
})

const kindsOn = (page: Page) =>
  page
    .locator('[data-panel]')
    .evaluateAll((panels) => panels.map((one) => (one as HTMLElement).dataset['panel']))

describe('the overview', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  async function open(views: readonly SavedView[] = []) {
    const { server } = example
    server.reset()
    const person = await example.open({ reducedMotion: 'reduce' })
    const state = keepViews(server, views)
    await person.page.goto(server.url)
    return { ...person, state, server }
  }

  async function edit(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Customize', exact: true }).click()
    await page.getByRole('heading', { name: 'Customize overview' }).waitFor()
  }

  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  }

  const chooseInMenu = async (page: Page, menu: string, item: string) => {
    await page.getByRole('button', { name: menu, exact: true }).click()
    await page
      .getByRole('menuitem', { name: item })
      .or(page.getByRole('menuitemradio', { name: item }))
      .click()
    await page.keyboard.press('Escape')
  }

  it('gets a panel, which moves by keys and menu, has a size and a filter, and is stored', async () => {
    const { context, page, pageErrors, state } = await open()
    await edit(page)
    assert.deepEqual((await kindsOn(page)).slice(0, 2), ['services', 'traffic'])
    await page.getByRole('button', { name: 'Add panel' }).click()
    await page.getByRole('menuitem', { name: /^Ports/ }).click()
    assert.equal((await kindsOn(page)).at(-1), 'ports')

    await page.getByRole('button', { name: 'Title and filter: Ports' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Our uplinks')
    await page.getByRole('button', { name: 'Apply' }).click()
    const handle = page.getByRole('button', { name: 'Move Our uplinks', exact: true })
    await handle.press('Home')
    assert.equal((await kindsOn(page))[0], 'ports')
    await page
      .getByRole('status')
      .filter({ hasText: 'Our uplinks, position 1 of' })
      .waitFor({ state: 'attached' })
    await handle.press('ArrowRight')
    assert.deepEqual((await kindsOn(page)).slice(0, 2), ['services', 'ports'])
    await chooseInMenu(page, 'Settings of Our uplinks', 'Move down or right')
    await chooseInMenu(page, 'Settings of Our uplinks', 'Two thirds')
    await page.getByRole('button', { name: 'Title and filter: Attacks by day' }).click()
    await page.getByRole('combobox', { name: 'Days' }).click()
    await page.getByRole('option', { name: '90 days' }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Remove Largest attacks' }).click()
    await settled(page)
    assert.deepEqual(await mistakesOfLook(page), [])
    await assertFitsPhone(page, 'the overview while it is edited')
    await save(page)

    const [stored, ...others] = state.views
    assert.deepEqual([stored!.page, stored!.shared, others], ['overview', false, []])
    assert.deepEqual(stored!.panels.map(({ kind, width }) => `${kind} ${width}`).slice(0, 3), [
      'services full',
      'traffic full',
      'ports two_thirds',
    ])
    assert.equal(stored!.panels.find(({ kind }) => kind === 'attacks')!.search, '?days=90')
    assert.ok(!stored!.panels.some(({ kind }) => kind === 'largest'))
    await page.reload()
    await page.getByRole('region', { name: 'Our uplinks' }).waitFor()
    await settled(page)
    assert.deepEqual(
      await kindsOn(page),
      stored!.panels.map(({ kind }) => kind),
    )
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('has panels that the mouse moves, and forgets changes that are not saved', async () => {
    const { context, page, state } = await open([
      view(1, { panels: [panel('todo'), panel('zones'), panel('bills')] }),
    ])
    await page.getByRole('heading', { name: 'Zones', exact: true }).waitFor()
    await edit(page)
    async function drag(name: string, kind: string): Promise<void> {
      const from = (await page.getByRole('button', { name: `Move ${name}`, exact: true }).boundingBox())!
      const to = (await page.locator(`[data-panel=${kind}]`).boundingBox())!
      await page.mouse.move(from.x + 8, from.y + 8)
      await page.mouse.down()
      await page.mouse.move(to.x + 40, to.y + 60, { steps: 6 })
      await page.mouse.up()
    }
    await drag('Bills so far', 'todo')
    await until('the panel to be moved', async () =>
      assert.deepEqual(await kindsOn(page), ['bills', 'todo', 'zones']),
    )
    await drag('Bills so far', 'zones')
    await until('the panel to be moved back', async () =>
      assert.deepEqual(await kindsOn(page), ['todo', 'zones', 'bills']),
    )
    await page.getByRole('button', { name: 'Move To do', exact: true }).focus()
    for (const pressed of ['End', 'ArrowUp', 'ArrowUp', 'ArrowDown']) await page.keyboard.press(pressed)
    assert.deepEqual(await kindsOn(page), ['zones', 'todo', 'bills'])
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    assert.deepEqual(await kindsOn(page), ['todo', 'zones', 'bills'])
    assert.equal(state.views[0]!.panels[0]!.kind, 'todo')
    await context.close()
  })

  it('is shared by an admin as the default of the team, to which a member goes back', async () => {
    const { context, page, server, state } = await open([
      view(1, { panels: [panel('zones'), panel('todo')] }),
    ])
    await page.getByRole('heading', { name: 'Zones', exact: true }).waitFor()
    await edit(page)
    await chooseInMenu(page, 'More actions', 'Save as the default of the team')
    await page.getByText('Members without their own overview').waitFor()
    assert.deepEqual(
      state.views.map(({ shared, panels }) => [shared, panels.map(({ kind }) => kind)]),
      [[true, ['zones', 'todo']]],
    )
    await context.close()

    server.roles = ['editor']
    state.views = [...state.views, view(2, { panels: [panel('bills')] })]
    await using member = await example.open()
    await member.page.goto(server.url)
    await member.page.getByRole('heading', { name: 'Bills so far' }).waitFor()
    await edit(member.page)
    await member.page.getByRole('button', { name: 'More actions' }).click()
    assert.equal(await member.page.getByRole('menuitem', { name: 'Save as the default' }).count(), 0)
    await member.page.getByRole('menuitem', { name: 'Back to the default of the team' }).click()
    await member.page.getByRole('heading', { name: 'Zones', exact: true }).waitFor()
    assert.deepEqual(await kindsOn(member.page), ['zones', 'todo'])
    assert.deepEqual(server.refused, [])
  })

  it('has a note in place of a panel that cannot be shown, and keeps it', async () => {
    const panels = [
      panel('weather', { search: '?city=oslo' }),
      panel('attacks'),
      panel('announcements', { search: '?region=atlantis' }),
      panel('traffic', { title: 'Odd', search: '?by=!!&top=9999' }),
      panel('todo'),
    ]
    const { context, page, pageErrors, server, state } = await open([view(1, { panels, shared: true })])
    const notes = page.getByRole('note')
    const note = (text: string) => notes.filter({ hasText: text }).waitFor()
    await note('does not have panels of this kind')
    await note('There is no region atlantis any more')
    await note('top')

    await edit(page)
    await page.getByRole('button', { name: 'Move To do', exact: true }).press('Home')
    await save(page)
    const own = state.views.find(({ shared }) => !shared)!
    assert.deepEqual(own.panels, [panels.at(-1), ...panels.slice(0, -1)])
    assert.deepEqual(pageErrors, [])
    await context.close()

    server.reset()
    server.roles = ['billing']
    keepViews(server, [view(1, { panels, shared: true })])
    await using member = await example.open()
    await member.page.goto(server.url)
    await member.page.getByRole('note').filter({ hasText: 'Needs the role' }).first().waitFor()
    assert.deepEqual(server.refused, [])
    assert.deepEqual(member.pageErrors, [])
  })

  it('sends requests only for panels that come into view', async () => {
    const panels = [
      ...['services', 'traffic', 'attacks', 'largest', 'announcements'].map((kind) =>
        panel(kind, { width: 'full', height: 'tall' }),
      ),
      panel('facilities'),
    ]
    const { context, page, server } = await open([view(1, { panels })])
    await page.getByRole('heading', { name: 'Attacks by day and peak' }).waitFor()
    await settled(page)
    const ofFacilities = () =>
      server.asked(listPortsRoute).filter(({ query }) => query.get('limit') !== '1').length
    assert.equal(ofFacilities(), 0)
    await page.locator('[data-panel=facilities]').scrollIntoViewIfNeeded()
    await until('the panel to be read', async () => assert.ok(ofFacilities() > 0))
    await context.close()
  })

  it('has a map of regions as wide as its panel in a tall one', async () => {
    const { context, page } = await open([view(1, { panels: [panel('regions', { height: 'tall' })] })])
    const map = page.locator('[data-panel=regions] svg').first()
    await map.waitFor()
    assert.ok((await map.boundingBox())!.width > 200)
    await context.close()
  })

  it('gets what the traffic explorer shows', async () => {
    const { context, page, server, state } = await open()
    await page.goto(`${server.url}/traffic?by=remote_asn&range=1h`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'Add to my overview' }).click()
    await page.getByText('Added to your overview.').waitFor()
    const added = state.views[0]!.panels.at(-1)!
    assert.deepEqual([added.kind, added.search], ['traffic', '?by=remote_asn&range=1h'])
    await context.close()
  })
})

describe('the views of a list', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('are of the person or of the team, and a link opens one for a colleague', async () => {
    const { server } = example
    server.reset()
    server.roles = ['editor']
    const list = { page: 'events', panels: [] }
    const state = keepViews(server, [
      view(1, { ...list, name: 'Ongoing', search: '?ongoing=true' }),
      view(2, { ...list, name: 'Month', search: '?range=30d', shared: true, created_by: 'user:99' }),
    ])
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(`${server.url}/events?view=2`)
    await page.waitForURL((url) => url.search === '?range=30d')
    await settled(page)
    const views = page.getByRole('button', { name: 'Views' }).or(page.getByRole('button', { name: 'Month' }))
    await views.first().click()
    const [mine, ofTeam] = ['My views', 'Views of the team'].map((name) => page.getByRole('group', { name }))
    await ofTeam!.getByRole('button', { name: 'Month', exact: true }).waitFor()
    assert.equal(await ofTeam!.getByRole('button', { name: 'Delete view Month' }).count(), 0)
    assert.deepEqual(await mistakesOfLook(page), [])
    await mine!.getByRole('button', { name: 'Share Ongoing with the team' }).click()
    await ofTeam!.getByRole('button', { name: 'Ongoing', exact: true }).waitFor()
    assert.equal(await mine!.count(), 0)
    assert.equal(state.views.find(({ id }) => id === 1)!.shared, true)
    await ofTeam!.getByRole('button', { name: 'Delete view Ongoing' }).click()
    await page.getByRole('alert').getByRole('button', { name: 'Delete' }).click()
    await ofTeam!.getByRole('button', { name: 'Ongoing', exact: true }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')

    await page.goto(`${server.url}/events?ongoing=true`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByLabel('Name').fill('Now')
    await page.getByRole('checkbox', { name: 'Share with the team' }).check()
    await page.keyboard.press('Enter')
    await ofTeam!.getByRole('button', { name: 'Now', exact: true }).waitFor()
    assert.deepEqual(state.views.map(({ name, shared, search }) => [name, shared, search]).at(-1), [
      'Now',
      true,
      '?ongoing=true',
    ])
    assert.deepEqual(server.refused, [])
    assert.deepEqual(person.pageErrors, [])
  })

  it('of an earlier release are copied from the browser, and custom ranges are offered again', async () => {
    const { server } = example
    server.reset()
    const state = keepViews(server)
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(`${server.url}/events`)
    await page.evaluate((id) => {
      localStorage.setItem(
        `pharos-views-${id}-events`,
        JSON.stringify([{ name: 'Old', search: '?ongoing=true' }]),
      )
    }, admin.id)
    await page.reload()
    await page.getByRole('button', { name: 'Views' }).click()
    await page
      .getByRole('group', { name: 'My views' })
      .getByRole('button', { name: 'Old', exact: true })
      .waitFor()
    assert.deepEqual(
      state.views.map(({ name, search }) => [name, search]),
      [['Old', '?ongoing=true']],
    )
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Time range: Any time' }).click()
    await page.getByRole('button', { name: 'Custom range' }).click()
    await page.getByRole('textbox', { name: 'From' }).fill('now-3d')
    await page.getByRole('textbox', { name: 'To' }).fill('now-1d')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/from=now-3d/)
    await page.goto(`${server.url}/events`)
    await page.getByRole('button', { name: 'Time range: Any time' }).click()
    await page.getByRole('group', { name: 'Recent' }).getByRole('button').click()
    await page.waitForURL(/from=now-3d&to=now-1d/)
    assert.deepEqual(person.pageErrors, [])
  })
})
