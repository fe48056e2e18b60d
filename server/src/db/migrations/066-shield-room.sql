-- How many rules a scrubber holds of each list: the rules that compilation adds count against rules_max, too.

alter table shield_installs add column rule_count integer not null default 0;
comment on column shield_installs.rule_count is 'rules that the scrubber held of the list when it was last read, added ones included';
