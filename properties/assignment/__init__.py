"""The questions for any assignor: problems, the claims about their answers, where problems come from, shrinking.

Nothing in here knows an assignor's code or a defect of one. An answer is judged by the problem alone, so ours, Kafka's
own of any release, and anybody else's are held to the same claims.
"""
