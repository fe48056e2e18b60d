-- A rule that is written differently keeps its id: the team's role stores how it was written last.

grant update (match) on shield_rules to pharos_tenant;
