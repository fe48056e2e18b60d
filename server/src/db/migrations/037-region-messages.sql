-- The stream tells when regions of announcements change while the status stays. No webhook gets this message.

alter table outbox
  drop constraint outbox_type_check,
  add constraint outbox_type_check check (case when team_id is null
    then type in ('hold.opened', 'hold.reminder', 'hold.decided')
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'validation.failed', 'event.started', 'event.updated', 'event.ended') end);
