# A CSV of one's own as the network.
cat > mine.csv <<'CSV'
seconds,bits_per_second
0,2000000
5,600000
10,0
CSV
cat > call.toml <<'TOML'
title = "A call over my link"
duration = "10s"

[links.forward]
from = "here"
to = "there"
trace = "./mine.csv"
delay = "25ms"
queue = { time = "300ms" }

[links.back]
from = "there"
to = "here"
rate = "10Mbps"
delay = "25ms"

[flows.video]
kind = "media"
from = "here"
to = "there"
controller = "gcc"
TOML
weir run call.toml --quiet | grep --quiet 'gcc carried'
