# An egg of 4 cm in a bath: the white sets by 80 degrees, the yolk should end at 65.
BEGIN {
    s = minutes * 60; start = 8
    yolk = celsius - (celsius - start) * 1.27 * exp(-s / 420)       # Newton's cooling, centre and edge
    white = celsius - (celsius - start) * 1.05 * exp(-s / 90)
    if (yolk < start) yolk = start
    hard = white > 82 ? (white - 82) / 40 : (82 - white) / 10       # rubber or slime
    runny = (yolk - 65) / 6
    printf "%.6f\n", runny * runny + hard * hard + minutes / 200
}
