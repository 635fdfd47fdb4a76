# Loss, use and queue of flows of ns-2's RAP and TFRC behind one drop-tail link: data/ns2/rap-tfrc.csv.
#
#   ns tools/ns2-loss.tcl > data/ns2/rap-tfrc.csv            all runs, one process each
#   ns tools/ns2-loss.tcl LAW DELAY_MS QUEUE_PACKETS FLOWS SEED TCP_TICK_S FROM_S TO_S        one of them
#
# ns-2.35 is Debian's package `ns2`. LAW is `rap` or `tfrc`; TCP_TICK_S is empty for RAP.

set rate 10e6

# The runs of the file, in its order.
proc runs {} {
    set seeds {1 2 3}
    set all {}
    foreach {law delay queue ticks counts to} {
        rap 5 13 {{}} {1 5 10 15} 120
        tfrc 5 13 {0.1 0.001} {1 5 10 15} 120
        rap 50 62 {{}} {1 2 5 10 15} 120
        rap 50 62 {{}} {1} 300
        tfrc 50 62 {0.1} {1 2 5 10 15} 120
        tfrc 50 62 {0.1} {1} 300
    } {
        foreach tick $ticks {
            foreach flows $counts {
                foreach seed $seeds {
                    lappend all [list $law $delay $queue $flows $seed $tick 20 $to]
                }
            }
        }
    }
    return $all
}

if {$argc == 0} {
    puts [join {
        law delay_ms rtt_ms queue_packets flows seed tcp_tick_s from_s to_s arrived_packets dropped_packets
        departed_packets departed_bytes queue_mean_packets loss utilisation
    } ,]
    foreach run [runs] { puts [eval exec [list ns $argv0] $run] }
    exit 0
}
if {$argc != 8} {
    puts stderr "eight arguments or none: LAW DELAY_MS QUEUE_PACKETS FLOWS SEED TCP_TICK_S FROM_S TO_S"
    exit 2
}
foreach {law delay queue flows seed tick from to} $argv {}

set ns [new Simulator]
$defaultRNG seed $seed
set starts [new RNG]
$starts seed $seed

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate ${delay}ms DropTail
$ns queue-limit $left $right $queue
$ns queue-limit $right $left 10000
set bottleneck [$ns monitor-queue $left $right ""]

# A source and a sink, each on a link of its own.
proc flow {} {
    global ns left right law tick starts
    set source [$ns node]
    set sink [$ns node]
    $ns duplex-link $source $left 1Gb 0ms DropTail
    $ns duplex-link $right $sink 1Gb 0ms DropTail
    foreach {a b} [list $source $left $left $source $right $sink $sink $right] { $ns queue-limit $a $b 10000 }
    set at [$starts uniform 0 1]
    if {$law == "rap"} {
        set sender [new Agent/RAP]
        set receiver [new Agent/RAP]
        set starter $sender
    } else {
        set sender [new Agent/TFRC]
        $sender set tcp_tick_ $tick
        set receiver [new Agent/TFRCSink]
        set starter [new Application/FTP]
    }
    $sender set packetSize_ 1000
    $ns attach-agent $source $sender
    $ns attach-agent $sink $receiver
    $ns connect $sender $receiver
    if {$law == "tfrc"} { $starter attach-agent $sender }
    $ns at $at "$starter start"
}
for {set i 0} {$i < $flows} {incr i} { flow }

proc counts {} {
    global bottleneck
    list [$bottleneck set parrivals_] [$bottleneck set pdrops_] [$bottleneck set pdepartures_] \
        [$bottleneck set bdepartures_]
}

proc begin {} {
    global before samples waiting
    set before [counts]
    set samples 0
    set waiting 0.0
    sample
}

proc sample {} {
    global ns bottleneck samples waiting
    incr samples
    set waiting [expr {$waiting + [$bottleneck set pkts_]}]
    $ns at [expr {[$ns now] + 0.01}] sample
}

proc finish {} {
    global argv before samples waiting rate
    foreach {law delay queue flows seed tick from to} $argv {}
    foreach name {arrived dropped departed bytes} now [counts] was $before {
        set $name [expr {$now - $was}]
    }
    puts [join [list $law $delay [expr {2 * $delay}] $queue $flows $seed $tick $from $to \
        [format %.0f $arrived] [format %.0f $dropped] [format %.0f $departed] [format %.0f $bytes] \
        [format %.3f [expr {$waiting / $samples}]] [format %.5f [expr {double($dropped) / $arrived}]] \
        [format %.4f [expr {$bytes * 8.0 / ($rate * ($to - $from))}]]] ,]
    exit 0
}

$ns at $from begin
$ns at $to finish
$ns run
