"""The drawings of the lecture notebooks: each draws one state of what a slider moves."""
